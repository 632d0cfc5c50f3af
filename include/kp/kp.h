// kp/kp.h - all of kp: your own compute kernels on any Vulkan device.
//
// A tour; each header tells the rest.
//
//     kp_manager *mgr = NULL; // the device: runtime.h
//     kp_manager_create(NULL, &mgr);
//
//     kp_tensor *x = NULL, *y = NULL; // arrays: runtime.h
//     kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3, .data = (float[]){1, 2, 3}}, &x);
//     kp_tensor_create(mgr, &(kp_tensor_desc){.count = 3}, &y);
//
//     kp_program *program = NULL; // a kernel, in Python syntax: compiler.h
//     kp_compile("def double(i: Index, x: Array[f32], y: Array[f32]):\n"
//                "    y[i] = 2.0 * x[i]\n",
//                NULL, &program);
//
//     kp_algorithm *twice = NULL; // kernel and arrays together: runtime.h
//     kp_algorithm_create(
//         mgr, &(kp_algorithm_desc){.program = program, .memory = (kp_memory *[]){x, y}, .memory_count = 2}, &twice);
//
//     kp_sequence *seq = NULL; // what to do, in order: runtime.h
//     kp_sequence_create(mgr, NULL, &seq);
//     kp_record_sync_device(seq, &x, 1);
//     kp_record_dispatch(seq, twice, NULL);
//     kp_record_sync_local(seq, &y, 1);
//     kp_sequence_eval(seq); // 2, 4, 6 in kp_tensor_data(y)
//
// Every call that can fail returns a kp_result: check each, which the tour leaves out. A dispatch that was not recorded
// is missing, and the sequence runs without it. kp_last_error() has the words (base.h). Nothing prints, nothing aborts.
#ifndef KP_KP_H
#define KP_KP_H

#include <kp/base.h>
#include <kp/compiler.h>
#include <kp/external.h>
#include <kp/kernels.h>
#include <kp/runtime.h>
#include <kp/shader.h>

#endif
