/* Devices: how many there are, and what they say of themselves. */
#pragma once

#include "sim.h"

#define SIM_MOST_DEVICES 16
#define SIM_DRIVER_VERSION 13000
#define SIM_NEWER_VERSION 14000 /* with SIM_NEWER */

#define SIM_LEAST_PRIORITY 0
#define SIM_GREATEST_PRIORITY (-5)

int sim_driver_version(void);
bool sim_device_initialised(void);
bool sim_device_exists(CUdevice device);

/* The value of an attribute; 0 for what the simulation does not have. */
int sim_device_attribute(CUdevice_attribute attribute);
