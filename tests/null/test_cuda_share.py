"""Whose kernels a call's time on a GPU went to, told from rows of a profile."""

import pytest

from kernwright.platforms.cuda_share import Seen, vendor_share

OWN = Seen("softmax_kernel", True, 40.0)


def _operator(name: str, microseconds: float) -> Seen:
    return Seen(f"aten::{name}", False, microseconds)


@pytest.mark.parametrize(
    "name",
    [
        "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float> >(int)",
        "void (anonymous namespace)::softmax_warp_forward<float, float, float, 12, false, false>(float*)",
        "void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, float>(float*, float const*, int)",
        "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_execute",
        "ampere_sgemm_128x64_nn",
        "nvjet_hsh_128x256_64x4_2x1_v_bz_coopA_NNN",
        "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn_align1>(cutlass_80_simt_sgemm::Params)",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float>(float*)",
        "void cudnn::bn_fw_tr_1C11_singleread<float>(float*)",
    ],
)
def test_a_vendors_kernel_is_known_by_its_name_whoever_launched_it(name: str) -> None:
    share, names = vendor_share([OWN, Seen(name, True, 60.0)])
    assert share == pytest.approx(0.6)
    assert names == [name[:80]]


@pytest.mark.parametrize("name", ["gemm", "my_sgemm_kernel", "matmul", "native_layer_norm_kernel", "cub::DeviceScan"])
def test_ones_own_kernel_is_ones_own_whatever_it_is_called(name: str) -> None:
    assert vendor_share([Seen(name, True, 10.0)]) == (0.0, [])


def test_operators_count_by_what_they_launched_and_initialising_memory_is_free() -> None:
    fill = Seen("void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float> >()", True, 10.0)
    copy = Seen("Memcpy DtoD (Device -> Device)", True, 10.0)
    rows = [OWN, fill, _operator("fill_", 10.0), copy, _operator("copy_", 10.0), _operator("empty", 0.0)]
    share, names = vendor_share(rows)
    assert share == pytest.approx(10 / 60)
    assert names == ["copy_"]


def test_what_launched_nothing_has_no_share() -> None:
    assert vendor_share([]) == (0.0, [])
