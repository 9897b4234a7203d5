#pragma once
#include "kernwright_cuda.h"
