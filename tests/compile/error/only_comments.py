# error: -: there is no function in the source; a kernel starts with def
# nothing here
