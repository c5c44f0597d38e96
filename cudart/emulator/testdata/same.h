// same.h: whether two C functions are called alike, for signatures_long_test.go.
#pragma once

#include <cstddef>
#include <type_traits>

namespace same {

// A word fills a register: an address, or an integer as wide. What is narrow is an integer or an enumeration of 32 bits or less.
template <class T>
constexpr bool word = std::is_pointer_v<T> || (std::is_integral_v<T> && sizeof(T) == 8);
template <class T>
constexpr bool narrow = (std::is_integral_v<T> || std::is_enum_v<T>) && sizeof(T) < 8;
template <class T>
constexpr bool number = std::is_scalar_v<T> && !std::is_same_v<std::remove_cv_t<T>, char> && !std::is_same_v<std::remove_cv_t<T>, unsigned char>;

// pointed says whether what two pointers point to is as wide, where both say that it is a number.
template <class A, class B>
constexpr bool pointed() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using P = std::remove_pointer_t<A>;
    using Q = std::remove_pointer_t<B>;
    if constexpr (number<P> && number<Q>) return sizeof(P) == sizeof(Q);
  }
  return true;
}

template <class A, class B>
constexpr bool alike() {
  if constexpr (std::is_void_v<A> || std::is_void_v<B>)
    return std::is_void_v<A> && std::is_void_v<B>;
  else if constexpr (word<A> && word<B>)
    return pointed<A, B>();
  else if constexpr (narrow<A> && narrow<B>)
    return sizeof(A) == sizeof(B);
  else
    return std::is_class_v<A> && std::is_class_v<B> && sizeof(A) == sizeof(B) && alignof(A) == alignof(B);
}

template <class A, class B>
struct Same : std::false_type {};
template <class R, class... A, class S, class... B>
struct Same<R(A...), S(B...)> {
  static constexpr bool each() {
    if constexpr (sizeof...(A) != sizeof...(B))
      return false;
    else
      return alike<R, S>() && (alike<A, B>() && ...);
  }
  static constexpr bool value = each();
};

enum Colour : int {};
struct Opaque;
static_assert(Same<int(Opaque**, size_t, const Colour*), Colour(void**, unsigned long long, int*)>::value);
static_assert(Same<void(unsigned), void(int)>::value && Same<int(void*), int(unsigned long long)>::value && Same<int(), Colour()>::value);
static_assert(!Same<int(void*, int), int(void*)>::value, "another number");
static_assert(!Same<int(size_t), int(int)>::value && !Same<int(int), int(short)>::value && !Same<int(void*), int(int)>::value, "another width");
static_assert(!Same<int(size_t*), int(int*)>::value, "a result of another width");
static_assert(!Same<int(), size_t()>::value && !Same<void(), int()>::value, "another result");
static_assert(!Same<int(double), int(long)>::value, "another kind of register");

}  // namespace same
