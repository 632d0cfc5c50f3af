# error: -: there is no function in the source; a kernel starts with def
x = 1
