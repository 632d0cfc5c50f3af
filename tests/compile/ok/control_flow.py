# Loops, branches and ways out of them, in the shapes that have broken structurisers: each must be valid structured SPIR-V.


def for_loop(i: Index, a: Array[f32]):
    for j in range(10):
        a[i] += 1.0


def for_loop_continue_break(i: Index, b: Array[i32]):
    r = 0
    for j in range(10):
        if j % 2 == 0:
            continue
        if b[i] == j:
            break
        r += j
    b[i] = r


def for_loop_runtime_bounds(i: Index, n: i32, m: i32, d: i32, b: Array[i32]):
    for j in range(n, m, d):
        b[i] += j


def for_loop_down(i: Index, n: i32, b: Array[i32]):
    for j in range(n, -1, -1):
        b[i] += j
    for j in range(10, -10, -3):
        b[i] += j


def for_loop_unsigned(i: Index, n: u32, u: Array[u32]):
    for j in range(n):
        u[i] += j


def for_loop_empty_body(i: Index, n: i32, a: Array[f32]):
    for j in range(n):
        pass
    for j in range(n, 0, -1):
        for k in range(n, j, -1):
            pass


def for_loop_no_iterations(i: Index, a: Array[f32]):
    for j in range(0):
        a[i] = 1.0
    for j in range(5, 5):
        a[i] = 2.0
    for j in range(5, 1):
        a[i] = 3.0


def for_loop_longer_than_memory(i: Index, b: Array[i32]):
    for j in range(2**30 + 1):
        if j == b[i]:
            break


def for_loop_all_continue(i: Index, b: Array[i32]):
    for j in range(3):
        continue
    b[i] = 1


def for_loop_first_break(i: Index, b: Array[i32]):
    for j in range(3):
        break
    b[i] = 1


def for_loop_writes_its_variable(i: Index, b: Array[i32]):
    for j in range(3):
        j = j * 2
        b[i] += j


def nested_break(i: Index, b: Array[i32]):
    r = 0
    for j in range(10):
        for k in range(10):
            break
        r += 1
    b[i] = r


def same_names_in_two_loops(i: Index, dim: i32, b: Array[i32]):
    for j in range(3):
        t = j
        b[i] += t
    for j in range(dim + 1):
        t = j + 1
        b[i] += t


def while_loop(i: Index, b: Array[i32]):
    while b[i] > 0:
        b[i] -= 1


def while_two_breaks(i: Index, b: Array[i32]):
    j = 0
    while j < 10:
        if b[i] == j:
            break
        if b[i] > 100:
            break
        j += 1
    b[i] = j


def while_three_breaks_in_ifs(i: Index, b: Array[i32]):
    j = 0
    while j < 10:
        if b[i] > 3:
            if b[i] == j:
                break
            elif b[i] > 50:
                if b[i] > 100:
                    break
                j += 2
            else:
                break
        j += 1
    b[i] = j


def while_true(i: Index, b: Array[i32]):
    j = 0
    while True:
        j += 1
        if j > 10:
            break
    b[i] = j


def while_true_return(i: Index, b: Array[i32]):
    j = 0
    while True:
        j += 1
        if j > b[i]:
            b[i] = j
            return


def while_false(i: Index, b: Array[i32]):
    while False:
        b[i] = 1


def while_continue(i: Index, b: Array[i32]):
    j = 0
    while j < 10:
        j += 1
        if j % 3 == 0:
            continue
        b[i] += j


def while_short_circuit_condition(i: Index, n: i32, b: Array[i32]):
    j = 0
    while j < n and (b[j] != 0 or j == 3):
        j += 1
    b[i] = j


def while_else(i: Index, b: Array[i32]):
    j = 0
    while j < 10:
        if b[i] == j:
            break
        j += 1
    else:
        b[i] = -1


def for_else(i: Index, n: i32, b: Array[i32]):
    for j in range(n):
        if b[j] == 7:
            b[i] = j
            break
    else:
        b[i] = -1


def for_else_inside_loop(i: Index, n: i32, b: Array[i32]):
    for j in range(n):
        for k in range(2, j):
            if j % k == 0:
                break
        else:
            b[i] += j
            continue
        b[i] -= 1
        if j > 20:
            break


def if_elif_else(i: Index, b: Array[i32]):
    if b[i] < 0:
        b[i] = -1
    elif b[i] == 0:
        b[i] = 0
    elif b[i] < 10:
        b[i] = 1
    else:
        b[i] = 2


def if_pass(i: Index, b: Array[i32]):
    if b[i] < 0:
        pass
    elif b[i] > 0:
        pass
    else:
        pass


def guard(i: Index, n: i32, a: Array[f32]):
    if i >= n:
        return
    a[i] = 1.0


def return_in_both_branches(i: Index, a: Array[f32]):
    if a[i] > 0.0:
        a[i] = 1.0
        return
    else:
        a[i] = 2.0
        return


def return_everywhere(i: Index, b: Array[i32]):
    if b[i] == 1:
        return
    for j in range(10):
        if j == b[i]:
            return
        while True:
            if b[j] > 3:
                return
            if b[j] > 2:
                break
            b[j] += 1
        else:
            return
    b[i] = 5
    return


def return_first(i: Index, b: Array[i32]):
    return


def return_then_dead_code(i: Index, b: Array[i32]):
    b[i] = 1
    return
    b[i] = 2


def dead_code_after_break(i: Index, b: Array[i32]):
    for j in range(3):
        b[i] = j
        break
        b[i] = 7
    while True:
        return
        b[i] = 8


def break_of_every_level(i: Index, b: Array[i32]):
    for j in range(5):
        k = 0
        while k < 5:
            k += 1
            for m in range(5):
                if m == 2:
                    continue
                if b[i] == m:
                    break
                if b[i] == k:
                    return
            if k == 3:
                break
        if j == 3:
            break


def branch_that_looks_like_or(i: Index, b: Array[i32]):
    r = 0
    for j in range(10):
        r = j
        if b[i] == 3:
            if j == 4:
                break
        if j == 7:
            break
    b[i] = r


def self_assignment(i: Index, v: Array[vec3]):
    t = v[i]
    t = t
    for j in range(3):
        t = t
    t = t
    v[i] = t


def conditions_of_every_type(i: Index, n: i32, m: u32, s: f32, b: Array[i32]):
    if n:
        b[i] = 1
    if m:
        b[i] = 2
    if s:
        b[i] = 3
    while n and not s > 100.0:
        n -= 1


def one_line_suites(i: Index, b: Array[i32]):
    if b[i] > 0: b[i] = 1; b[i] += 1
    else: b[i] = 2
    for j in range(3): b[i] += j
    while b[i] > 5: b[i] -= 1


def deep(i: Index, b: Array[i32]):
    if b[i] > 0:
        if b[i] > 1:
            for j in range(3):
                if j > b[i]:
                    while b[i] < 9:
                        if b[i] == 4:
                            for k in range(2):
                                if k == 1:
                                    break
                                b[i] += k
                            else:
                                continue
                        b[i] += 1

ALLOWED = (2, 3, 5)

def members(i: Index, n: Array[i32], x: Array[f32]):
    if n[i] in (1, 2, n[0]) and n[i] not in ALLOWED or x[i] in [0, 1.5]:
        n[i] = i32(n[i] not in ())
    while not (n[i] in ALLOWED):
        n[i] += 1 if 2 in ALLOWED else 0
