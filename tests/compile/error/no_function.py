# error: -: there is no function in the source
x = 1
