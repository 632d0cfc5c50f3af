// How images are made, for the calls that bring memory of their own.
#ifndef KP_SRC_RUNTIME_IMAGE_H
#define KP_SRC_RUNTIME_IMAGE_H

#include "memory.h"
#include "reflect.h"

// `share`: how others have its memory; zeroed: they do not.
kp_result kp_image_make(kp_manager *manager, const kp_image_desc *desc, const kp_buffer_share *share, kp_image **out);

// Brings a new image into its layout: submits that, before anyone can use the image, and does not wait. Once the image
// has its life, it is left to the manager.
kp_result kp_image_settle(kp_memory *image, kp_recording **out);
void kp_image_leave(kp_memory *image, kp_recording *recording);

// How a binding samples an image: as the kernel says, or else the image.
kp_pixels_sampling kp_image_sampling(const kp_memory *image, const kp_reflect_binding *binding);

#endif
