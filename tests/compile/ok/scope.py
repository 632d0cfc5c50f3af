# Python's scope: a function has one, whatever the blocks.


def assigned_in_branches(i: Index, a: Array[f32]):
    if a[i] > 0.0:
        t = 1.0
    else:
        t = 2.0
    a[i] = t


def assigned_in_all_of_many_branches(i: Index, b: Array[i32]):
    if b[i] == 0:
        t = 1
    elif b[i] == 1:
        t = 2
    elif b[i] == 2:
        return
    else:
        t = 3
    b[i] = t


def assigned_unless_left(i: Index, b: Array[i32]):
    for j in range(10):
        if b[j] == 0:
            t = 1
        elif b[j] == 1:
            continue
        else:
            break
        b[j] = t


def loop_variable_after_loop(i: Index, b: Array[i32]):
    j = -1
    for j in range(10):
        if b[i] == j:
            break
    b[i] = j


def assigned_in_loop_used_after(i: Index, b: Array[i32]):
    while True:
        t = b[i]
        if t > 0:
            break
        b[i] += 1
    b[i] = t


def assigned_before_every_break(i: Index, b: Array[i32]):
    while True:
        if b[i] > 0:
            t = 1
            break
        t = 2
        if b[i] < -5:
            break
        b[i] += 1
    b[i] = t


def name_reused_in_nested_blocks(i: Index, b: Array[i32]):
    t = 0
    if b[i] > 0:
        t = 1
        for j in range(3):
            t = 2
            if j == b[i]:
                t = j
    b[i] = t


def variable_in_loop_starts_afresh(i: Index, b: Array[i32]):
    for j in range(3):
        t = 0
        t += j
        b[i] += t


def parameter_in_branch(i: Index, n: i32, b: Array[i32]):
    if True:
        n = 1
    b[i] = n
