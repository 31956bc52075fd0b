;; y = x Wᵀ + bias for each row of x, 16 columns of y at a time (WebAssembly with 128-bit SIMD).
;;
;; All matrices lie in this module's memory, as 32-bit floats, at the byte addresses given:
;;   x     rows × inner
;;   w     panels × (1 + inner) × 16: a panel is the bias of 16 columns, then these columns of Wᵀ
;;   y     rows × (16 · panels)
;; Rows are taken two by two, because then each number of w that is loaded is used twice. If their
;; count is odd, the last one is its own companion.
(module
  (memory (export "memory") 1)
  (func (export "multiply")
    (param $x i32) (param $w i32) (param $y i32) (param $rows i32) (param $inner i32) (param $panels i32)
    (local $left i32) (local $end i32) (local $xStep i32) (local $yStep i32)
    (local $a i32) (local $b i32) (local $aOut i32) (local $bOut i32) (local $k i32)
    (local $aRow i32) (local $aTo i32) (local $same i32)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local $one v128) (local $other v128) (local $four v128)

    (local.set $xStep (i32.shl (local.get $inner) (i32.const 2)))
    (local.set $yStep (i32.shl (local.get $panels) (i32.const 6)))
    (loop $eachPanel
      (local.set $end (i32.add (local.get $w) (i32.shl (local.get $inner) (i32.const 6)))) ;; the last row of 16
      (local.set $left (local.get $rows))
      (local.set $aRow (local.get $x))
      (local.set $aTo (local.get $y))
      (loop $eachPair
        (local.set $a (local.get $aRow))
        (local.set $aOut (local.get $aTo))
        (local.set $same (i32.eq (local.get $left) (i32.const 1)))
        (local.set $b (select (local.get $a) (i32.add (local.get $a) (local.get $xStep)) (local.get $same)))
        (local.set $bOut (select (local.get $aOut) (i32.add (local.get $aOut) (local.get $yStep)) (local.get $same)))
        (local.set $aRow (i32.add (local.get $b) (local.get $xStep)))
        (local.set $aTo (i32.add (local.get $bOut) (local.get $yStep)))

        ;; both rows begin with the bias
        (local.set $k (local.get $w))
        (local.set $b0 (local.tee $a0 (v128.load (local.get $k))))
        (local.set $b1 (local.tee $a1 (v128.load offset=16 (local.get $k))))
        (local.set $b2 (local.tee $a2 (v128.load offset=32 (local.get $k))))
        (local.set $b3 (local.tee $a3 (v128.load offset=48 (local.get $k))))
        (loop $eachNumber
          (local.set $one (v128.load32_splat (local.get $a)))
          (local.set $other (v128.load32_splat (local.get $b)))
          (local.set $four (v128.load offset=64 (local.get $k)))
          (local.set $a0 (f32x4.add (local.get $a0) (f32x4.mul (local.get $one) (local.get $four))))
          (local.set $b0 (f32x4.add (local.get $b0) (f32x4.mul (local.get $other) (local.get $four))))
          (local.set $four (v128.load offset=80 (local.get $k)))
          (local.set $a1 (f32x4.add (local.get $a1) (f32x4.mul (local.get $one) (local.get $four))))
          (local.set $b1 (f32x4.add (local.get $b1) (f32x4.mul (local.get $other) (local.get $four))))
          (local.set $four (v128.load offset=96 (local.get $k)))
          (local.set $a2 (f32x4.add (local.get $a2) (f32x4.mul (local.get $one) (local.get $four))))
          (local.set $b2 (f32x4.add (local.get $b2) (f32x4.mul (local.get $other) (local.get $four))))
          (local.set $four (v128.load offset=112 (local.get $k)))
          (local.set $a3 (f32x4.add (local.get $a3) (f32x4.mul (local.get $one) (local.get $four))))
          (local.set $b3 (f32x4.add (local.get $b3) (f32x4.mul (local.get $other) (local.get $four))))
          (local.set $a (i32.add (local.get $a) (i32.const 4)))
          (local.set $b (i32.add (local.get $b) (i32.const 4)))
          (br_if $eachNumber (i32.ne (local.tee $k (i32.add (local.get $k) (i32.const 64))) (local.get $end))))
        (v128.store (local.get $aOut) (local.get $a0))
        (v128.store offset=16 (local.get $aOut) (local.get $a1))
        (v128.store offset=32 (local.get $aOut) (local.get $a2))
        (v128.store offset=48 (local.get $aOut) (local.get $a3))
        (v128.store (local.get $bOut) (local.get $b0))
        (v128.store offset=16 (local.get $bOut) (local.get $b1))
        (v128.store offset=32 (local.get $bOut) (local.get $b2))
        (v128.store offset=48 (local.get $bOut) (local.get $b3))
        (br_if $eachPair (i32.gt_s (local.tee $left (i32.sub (local.get $left) (i32.const 2))) (i32.const 0))))

      (local.set $y (i32.add (local.get $y) (i32.const 64)))
      (local.set $w (i32.add (local.get $end) (i32.const 64)))
      (br_if $eachPanel (local.tee $panels (i32.sub (local.get $panels) (i32.const 1)))))))
