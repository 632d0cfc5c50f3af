// Host allocations of kp's own (base/alloc.h), counted: drivers and libraries are left out.
#ifndef KP_TESTS_FAULTS_BLOCKS_H
#define KP_TESTS_FAULTS_BLOCKS_H

long blocks_live(void); // not freed yet
long blocks_made(void); // so far

#endif
