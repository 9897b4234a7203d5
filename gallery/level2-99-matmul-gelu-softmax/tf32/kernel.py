# Exported by Kernwright 0.1.0: node 10 of run 20261126-level2-99-matmul-gelu-softmax-2c55, by Inductor.
# problem: level2_99_Matmul_GELU_Softmax (9e6294d9ad59129b6a48d4c80599ab1d)
# verdict: verified
# speedup: 1.003x [1.001, 1.006], 95 % interval, against torch.compile
# threads: 1; cache: cold
# It is not shown to be faster than the baseline.
# machine: NVIDIA H100 80GB HBM3/580.159.04/torch 2.11.0+cu130/triton 3.6.0, target cuda:sm_90a; figures hold there
# torch: 2.11.0+cu130
# note: build: the dry run ended at inductor.py, line 103, with RuntimeError: Unhandled FakeTensor Device Propagation for aten.mm.out, found two different devices cuda:0, meta; what is launched after that is compiled when it runs, and is not among the resources
# note: shape-specialised: the problem holds no workload back, so only values were varied
# note: the module ran in eval() mode
# evidence: kernel.bundle.json, bundle 774139219e23c3d330a25ef1fabe793a298a4c8b9a525a436fd743ec4226f282
# workload: default get_inputs() as it stands
# use: from this file import ModelNew, in the place of Model

"""Code by Inductor (torch 2.11.0+cu130, for NVIDIA H200) as a file that stands alone: it needs PyTorch and Triton."""

from torch._inductor.runtime import triton_helpers, triton_heuristics
from torch._inductor.runtime.hints import AutotuneHint, ReductionHint, TileHint, DeviceProperties
from torch._inductor.runtime.triton_helpers import libdevice, math as tl_math
import os
import torch
import triton
import triton.language as tl
empty_strided_cuda = torch._C._dynamo.guards._empty_strided_cuda
reinterpret_tensor = torch._C._dynamo.guards._reinterpret_tensor

from torch.utils._pytree import tree_leaves

# A PyTorch without CUDA has no streams, and can still compile the kernels.
get_raw_stream = getattr(torch._C, "_cuda_getCurrentRawStream", None)

def laid_out_as(x, strides):
    """A library's result with the strides that the kernels after it read; mostly it has them."""
    if x.stride() == strides:
        return x
    return torch.empty_strided(x.shape, strides, dtype=x.dtype, device=x.device).copy_(x)

@triton_heuristics.reduction(
    size_hints={'x': 1024, 'r0_': 8192},
    reduction_hint=ReductionHint.INNER,
    filename=__file__,
    triton_meta={'signature': {'in_out_ptr0': '*fp32', 'in_ptr0': '*fp32', 'xnumel': 'i32', 'r0_numel': 'i32', 'XBLOCK': 'constexpr', 'R0_BLOCK': 'constexpr'}, 'device': DeviceProperties(type='cuda', index=0, multi_processor_count=132, cc=90, major=9, regs_per_multiprocessor=65536, max_threads_per_multi_processor=2048, max_threads_per_block=1024, warp_size=32), 'constants': {}, 'native_matmul': False, 'enable_fp_fusion': True, 'launch_pdl': False, 'disable_ftz': False, 'configs': [{(0,): [['tt.divisibility', 16]], (1,): [['tt.divisibility', 16]], (2,): [['tt.divisibility', 16]], (3,): [['tt.divisibility', 16]]}]},
    inductor_meta={'grid_type': 'Grid1D', 'autotune_hints': set(), 'kernel_name': 'triton_red_fused__softmax_addmm_exp_gelu_prepare_softmax_online_sub_0', 'mutated_arg_names': ['in_out_ptr0'], 'optimize_mem': True, 'no_x_dim': False, 'atomic_add_found': False, 'num_load': 4, 'num_store': 1, 'num_reduction': 2, 'backend_hash': '91D1D1166449D9E2EB66EB9770C9E2C3B0FEB787341F27FEB4D3F0338DA50336', 'assert_indirect_indexing': True, 'autotune_local_cache': False, 'autotune_pointwise': True, 'autotune_remote_cache': None, 'force_disable_caches': False, 'dynamic_scale_rblock': True, 'max_autotune': False, 'max_autotune_pointwise': False, 'min_split_scan_rblock': 256, 'spill_threshold': 16, 'store_cubin': False, 'deterministic': False, 'force_filter_reduction_configs': False, 'mix_order_reduction_allow_multi_stages': False, 'are_deterministic_algorithms_enabled': False, 'add_persistent_rblock': True}
)
@triton.jit
def triton_red_fused__softmax_addmm_exp_gelu_prepare_softmax_online_sub_0(in_out_ptr0, in_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 1024
    r0_numel = 8192
    rnumel = r0_numel
    RBLOCK: tl.constexpr = R0_BLOCK
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    rbase = r0_base
    x0 = xindex
    _tmp12_max = tl.full([XBLOCK, R0_BLOCK], float('-inf'), tl.float32)
    _tmp12_sum = tl.zeros([XBLOCK, R0_BLOCK], tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_1), r0_mask, eviction_policy='evict_last', other=0.0)
        tmp1 = tl.load(in_out_ptr0 + (r0_1 + 8192*x0), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp2 = tmp0 + tmp1
        tmp3 = tl.full([1, 1], 0.5, tl.float32)
        tmp4 = tmp2 * tmp3
        tmp5 = tl.full([1, 1], 0.7071067811865476, tl.float32)
        tmp6 = tmp2 * tmp5
        tmp7 = libdevice.erf(tmp6)
        tmp8 = tl.full([1, 1], 1.0, tl.float32)
        tmp9 = tmp7 + tmp8
        tmp10 = tmp4 * tmp9
        tmp11 = tl.broadcast_to(tmp10, [XBLOCK, R0_BLOCK])

        _tmp12_max_next, _tmp12_sum_next = triton_helpers.online_softmax_combine(
            _tmp12_max, _tmp12_sum, tmp11, False
        )

        _tmp12_max = tl.where(r0_mask & xmask, _tmp12_max_next, _tmp12_max)
        _tmp12_sum = tl.where(r0_mask & xmask, _tmp12_sum_next, _tmp12_sum)

    tmp12, tmp13 = triton_helpers.online_softmax_reduce(
        _tmp12_max, _tmp12_sum, 1, False)
    tmp12 = tmp12[:, None]
    tmp13 = tmp13[:, None]
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        roffset = r0_offset
        rindex = r0_index
        r0_1 = r0_index
        tmp14 = tl.load(in_ptr0 + (r0_1), r0_mask, eviction_policy='evict_last', other=0.0)
        tmp15 = tl.load(in_out_ptr0 + (r0_1 + 8192*x0), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tmp16 = tmp14 + tmp15
        tmp17 = tl.full([1, 1], 0.5, tl.float32)
        tmp18 = tmp16 * tmp17
        tmp19 = tl.full([1, 1], 0.7071067811865476, tl.float32)
        tmp20 = tmp16 * tmp19
        tmp21 = libdevice.erf(tmp20)
        tmp22 = tl.full([1, 1], 1.0, tl.float32)
        tmp23 = tmp21 + tmp22
        tmp24 = tmp18 * tmp23
        tmp25 = tmp24 - tmp12
        tmp26 = libdevice.exp(tmp25)
        tmp27 = (tmp26 / tmp13)
        tl.store(in_out_ptr0 + (r0_1 + 8192*x0), tmp27, r0_mask & xmask)

def graph_0(args):
    arg0_1, arg1_1, arg2_1 = args
    args.clear()
    with torch.cuda._DeviceGuard(0):
        buf0 = empty_strided_cuda((1024, 8192), (8192, 1), torch.float32)
        # Topologically Sorted Source Nodes: [linear], Original ATen: [aten.t, aten.addmm]
        torch.mm(arg2_1, reinterpret_tensor(arg0_1, (8192, 8192), (1, 8192), 0), out=buf0)
        del arg0_1
        del arg2_1
        buf3 = buf0; del buf0  # reuse
        # Topologically Sorted Source Nodes: [linear, gelu, softmax], Original ATen: [aten.addmm, aten.gelu, prims.prepare_softmax_online, aten.sub, aten.exp, aten._softmax]
        stream0 = get_raw_stream(0)
        triton_red_fused__softmax_addmm_exp_gelu_prepare_softmax_online_sub_0.run(buf3, arg1_1, 1024, 8192, stream=stream0)
        del arg1_1
    return (buf3, )

def serves_0(x):
    if len(x) != 1:
        return None
    if not isinstance(x[0], torch.Tensor) or x[0].dtype != torch.float32 or x[0].dim() != 2:
        return None
    return ((8192, 1),) if (tuple(x[0].shape) == (1024, 8192)) else None

GRAPHS = [
    ('[8192, 8192]', serves_0, graph_0, ('linear.weight', 'linear.bias', 0), lambda r: r[0]),  # noqa
]

STATES = {
    '[8192, 8192]': [
        ('linear.weight', 'parameter', torch.float32, (8192, 8192), (8192, 1), None, None),
        ('linear.bias', 'parameter', torch.float32, (8192,), (1,), None, None),
    ],
}

CONSTANTS = [
]

def aligned(x):
    """A copy with the same strides; kernels read 16 bytes at once."""
    span = 1 + sum((n - 1) * s for n, s in zip(x.shape, x.stride())) if x.numel() else 0
    return x.as_strided((span,), (1,)).clone().as_strided(x.shape, x.stride())

def make(kind, dtype, shape, stride, data):
    """The bytes given; else small random numbers, so that a module whose weights were not loaded is no zero."""
    tensor = torch.empty_strided(shape, stride, dtype=dtype).zero_()
    if data is not None:
        tensor.copy_(torch.frombuffer(bytearray.fromhex(data), dtype=dtype).reshape(shape))
    elif kind in ("parameter", "frozen"):
        tensor.normal_(std=0.02)
    return tensor


def add(root, name, kind, dtype, shape, stride, same, data):
    """Register one tensor under its dotted name, with empty modules on the way."""
    *path, leaf = name.split(".")
    owner = root
    for part in path:
        if part not in owner._modules:
            owner.add_module(part, torch.nn.Module())
        owner = owner._modules[part]
    tensor = make(kind, dtype, shape, stride, data) if same is None else None
    if kind in ("parameter", "frozen"):
        known = root.get_parameter(same) if same is not None else None
        made = known if known is not None else torch.nn.Parameter(tensor, requires_grad=kind == "parameter")
        owner.register_parameter(leaf, made)
        return owner._parameters, leaf
    owner.register_buffer(leaf, tensor if same is None else root.get_buffer(same), persistent=kind == "buffer")
    return owner._buffers, leaf


def laid_out(tensor, strides):
    """Whether the tensor has these strides wherever they matter."""
    return all(n < 2 or a == b for n, a, b in zip(tensor.shape, tensor.stride(), strides))


class ModelNew(torch.nn.Module):
    """For inference: weights are inputs of every call, gradients are not computed."""

    def __init__(self, *args):
        super().__init__()
        key = repr(list(args))
        if key not in STATES:
            raise ValueError(f"compiled for the constructor arguments {list(STATES)}, not for {key}")
        constants = {name: make("buffer", *rest, data) for name, _, *rest, _, data in CONSTANTS}
        self._places = {name: (constants, name) for name in constants}
        for state in STATES[key]:
            self._places[state[0]] = add(self, *state)
        self._graphs = [graph[1:] for graph in GRAPHS if graph[0] == key]
        self._known = {}

    @torch.no_grad()
    def forward(self, *inputs):
        leaves = tree_leaves(inputs)
        seen = tuple([(x.dtype, x.shape, x.stride()) if isinstance(x, torch.Tensor) else repr(x) for x in leaves])
        graph, operands, strides, result = self._known.get(seen) or self._choose(leaves, seen)
        if strides is not None:
            leaves = [x if s is None else torch.empty_strided(x.shape, s, dtype=x.dtype, device=x.device).copy_(x)
                      for x, s in zip(leaves, strides)]
        leaves = [aligned(x) if isinstance(x, torch.Tensor) and x.data_ptr() % 16 else x for x in leaves]
        return result(graph([leaves[o] if type(o) is int else o[0][o[1]] for o in operands]))

    def _choose(self, leaves, seen):
        for serves, graph, operands, result in self._graphs:
            strides = serves(leaves)
            if strides is not None:
                fits = all(s is None or laid_out(x, s) for x, s in zip(leaves, strides))
                places = [o if type(o) is int else self._places[o] for o in operands]
                self._known[seen] = (graph, places, None if fits else strides, result)
                return self._known[seen]
        raise ValueError(f"not compiled for inputs such as {seen}")

if os.environ.get("KERNWRIGHT_BUILDING"):
    # No device is here: Triton's cache is filled for the chip that the kernels name.
    triton_helpers.set_driver_to_gpu = lambda: None
    for kernel in [triton_red_fused__softmax_addmm_exp_gelu_prepare_softmax_online_sub_0]:
        kernel.precompile(warm_cache_only=True)
