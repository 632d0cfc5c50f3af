# error: -: there is no function in the source
# nothing here
