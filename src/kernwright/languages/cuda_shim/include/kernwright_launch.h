// What the loader calls: for each kernel, its parameters and a function that runs a whole grid.
#pragma once

namespace kernwright {

struct Parameter {
    int size;
    char kind;  // p pointer, i signed, u unsigned, f floating, b bool, s anything else
};

template <class T>
constexpr Parameter parameter() {
    using U = std::remove_cv_t<T>;
    char kind = std::is_pointer_v<U>            ? 'p'
                : std::is_same_v<U, bool>       ? 'b'
                : std::is_floating_point_v<U>   ? 'f'
                : std::is_signed_v<U>           ? 'i'
                : std::is_unsigned_v<U>         ? 'u'
                                                : 's';
    return {int(sizeof(U)), kind};
}

template <class F> struct Entry;
template <class... P>
struct Entry<void (*)(P...)> {
    static constexpr int count = sizeof...(P);
    static const Parameter* parameters() {
        static constexpr Parameter list[] = {parameter<P>()..., Parameter{0, 0}};
        return list;
    }
    template <void (*kernel)(P...)>
    static void thread(void* arguments) {
        call<kernel>(static_cast<void**>(arguments), std::index_sequence_for<P...>());
    }
    template <void (*kernel)(P...), size_t... I>
    static void call(void** a, std::index_sequence<I...>) {
        kernel(*static_cast<std::remove_reference_t<P>*>(a[I])...);
        (void)a;
    }
};

inline const char* run_grid(void (*thread)(void*), const unsigned* shape, size_t shared, void** arguments) {
    gridDim = dim3(shape[0], shape[1], shape[2]);
    blockDim = dim3(shape[3], shape[4], shape[5]);
    trouble[0] = 0;
    body = thread;
    body_arguments = arguments;
    if (!make_stacks()) return "there is no memory for the stacks of a block's threads";
    for (unsigned z = 0; z < gridDim.z; ++z)
        for (unsigned y = 0; y < gridDim.y; ++y)
            for (unsigned x = 0; x < gridDim.x; ++x) {
                blockIdx = {x, y, z};
                if (!run_block(shared)) return trouble;
            }
    return nullptr;
}

}  // namespace kernwright

#define KERNWRIGHT_KERNEL(name)                                                                              \
    extern "C" const kernwright::Parameter* kernwright_parameters_##name() {                                 \
        return kernwright::Entry<decltype(&name)>::parameters();                                             \
    }                                                                                                        \
    extern "C" const char* kernwright_run_##name(const unsigned* shape, size_t shared, void** arguments) {   \
        return kernwright::run_grid(&kernwright::Entry<decltype(&name)>::thread<&name>, shape, shared, arguments); \
    }
