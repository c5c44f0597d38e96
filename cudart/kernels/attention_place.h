// Where a block of attention works.
#pragma once
#include "attention.h"

enum { PLACE_GROUP = 16 };  // matrices whose blocks are dealt out together

// A Place is the matrix and the tile of a block. Of a causal matrix the blocks with the longest way go first: Last says that is the last one.
struct Place { u32 n; int tile; };
template <bool Last> HT_FN Place place_of_block(const Attention& p) {
  const u32 from = blockIdx.y / PLACE_GROUP * PLACE_GROUP, left = gridDim.y - from, size = left < PLACE_GROUP ? left : PLACE_GROUP;
  const u32 i = (blockIdx.y - from) * gridDim.x + blockIdx.x, tile = i / size;
  return Place{blockIdx.z * gridDim.y + from + i - tile * size, (int)(Last && p.causal ? gridDim.x - 1 - tile : tile)};
}
