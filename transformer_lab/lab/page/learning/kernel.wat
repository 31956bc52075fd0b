;; What the layers compute beside products, forward and backward, in WebAssembly with 128-bit SIMD.
;;
;; Its memory is that of engine/product.wat, and all numbers in it are 32-bit floats. An address, a count and
;; a step from row to row are counted in floats. Counts and columns are multiples of 4, and at least 4: numbers
;; are taken four at a time. loops.js says the same in JavaScript, and has the formulas.
(module
  (import "product" "memory" (memory 1))

  ;; a · b + c
  (func $mulAdd (param $a v128) (param $b v128) (param $c v128) (result v128)
    (f32x4.add (f32x4.mul (local.get $a) (local.get $b)) (local.get $c)))

  ;; The sum of the four numbers.
  (func $sum (param $x v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.add (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))

  ;; The largest of the four numbers.
  (func $max (param $x v128) (result f32)
    (f32.max
      (f32.max (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.max (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))

  ;; exp(x) for x up to 0, and 0 where it's below 1.7e-38. With n = x / ln 2, rounded, and r = x - n ln 2 it is
  ;; 2ⁿ exp(r), and |r| is so small (0.35 at most) that the Taylor series is exact after eight terms.
  (func $exp (param $x v128) (result v128)
    (local $n v128) (local $r v128) (local $series v128)
    (local.set $r (f32x4.max (local.get $x) (v128.const f32x4 -87 -87 -87 -87)))
    (local.set $n (f32x4.nearest (f32x4.mul (local.get $r)
      (v128.const f32x4 1.44269504 1.44269504 1.44269504 1.44269504))))
    ;; ln 2 in two parts, the first one with so few digits that n times it is exact
    (local.set $r (call $mulAdd (local.get $n)
      (v128.const f32x4 -0.693359375 -0.693359375 -0.693359375 -0.693359375) (local.get $r)))
    (local.set $r (call $mulAdd (local.get $n)
      (v128.const f32x4 2.12194440e-4 2.12194440e-4 2.12194440e-4 2.12194440e-4) (local.get $r)))
    (local.set $series (v128.const f32x4 1.98412698e-4 1.98412698e-4 1.98412698e-4 1.98412698e-4)) ;; 1 / 7!
    (local.set $series (call $mulAdd (local.get $series) (local.get $r)
      (v128.const f32x4 1.38888889e-3 1.38888889e-3 1.38888889e-3 1.38888889e-3))) ;; 1 / 6!
    (local.set $series (call $mulAdd (local.get $series) (local.get $r)
      (v128.const f32x4 8.33333333e-3 8.33333333e-3 8.33333333e-3 8.33333333e-3)))
    (local.set $series (call $mulAdd (local.get $series) (local.get $r)
      (v128.const f32x4 4.16666667e-2 4.16666667e-2 4.16666667e-2 4.16666667e-2)))
    (local.set $series (call $mulAdd (local.get $series) (local.get $r)
      (v128.const f32x4 0.166666667 0.166666667 0.166666667 0.166666667)))
    (local.set $series (call $mulAdd (local.get $series) (local.get $r) (v128.const f32x4 0.5 0.5 0.5 0.5)))
    (local.set $series (call $mulAdd (local.get $series) (local.get $r) (v128.const f32x4 1 1 1 1)))
    (local.set $series (call $mulAdd (local.get $series) (local.get $r) (v128.const f32x4 1 1 1 1)))
    ;; 2ⁿ has the bits of n + 127 where a float keeps its exponent
    (v128.and
      (f32x4.gt (local.get $x) (v128.const f32x4 -87 -87 -87 -87))
      (f32x4.mul (local.get $series)
        (i32x4.shl
          (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $n)) (v128.const i32x4 127 127 127 127))
          (i32.const 23)))))

  ;; to = fromᵀ; the columns of `to` beyond `rows`, up to its step, become 0.
  (func (export "transpose")
    (param $from i32) (param $fromRow i32) (param $to i32) (param $toRow i32) (param $rows i32) (param $columns i32)
    (local $x i32) (local $y i32) (local $end i32)
    (local.set $from (i32.shl (local.get $from) (i32.const 2)))
    (local.set $fromRow (i32.shl (local.get $fromRow) (i32.const 2)))
    (local.set $to (i32.shl (local.get $to) (i32.const 2)))
    (local.set $toRow (i32.shl (local.get $toRow) (i32.const 2)))
    (loop $eachColumn
      (local.set $x (local.get $from))
      (local.set $y (local.get $to))
      (local.set $end (i32.add (local.get $to) (i32.shl (local.get $rows) (i32.const 2))))
      (loop $eachNumber
        (f32.store (local.get $y) (f32.load (local.get $x)))
        (local.set $x (i32.add (local.get $x) (local.get $fromRow)))
        (br_if $eachNumber (i32.lt_u (local.tee $y (i32.add (local.get $y) (i32.const 4))) (local.get $end))))
      (local.set $end (i32.add (local.get $to) (local.get $toRow)))
      (block $full
        (loop $eachZero
          (br_if $full (i32.ge_u (local.get $y) (local.get $end)))
          (f32.store (local.get $y) (f32.const 0))
          (local.set $y (i32.add (local.get $y) (i32.const 4)))
          (br $eachZero)))
      (local.set $from (i32.add (local.get $from) (i32.const 4)))
      (local.set $to (i32.add (local.get $to) (local.get $toRow)))
      (br_if $eachColumn (local.tee $columns (i32.sub (local.get $columns) (i32.const 1))))))

  ;; Each row becomes softmax(scale · row) over what it sees: the first row `seen` numbers, each further one
  ;; `more` more. The rest of a row becomes 0.
  (func (export "softmax")
    (param $x i32) (param $columns i32) (param $rows i32) (param $seen i32) (param $more i32) (param $scale f32)
    (local $at i32) (local $end i32) (local $most v128) (local $total v128) (local $factor v128)
    (local.set $x (i32.shl (local.get $x) (i32.const 2)))
    (local.set $columns (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $factor (f32x4.splat (local.get $scale)))
    (loop $eachRow
      (local.set $end (i32.add (local.get $x) (local.get $columns)))
      (local.set $at (i32.add (local.get $x) (i32.shl (local.get $seen) (i32.const 2))))
      (block $hidden
        (loop $eachHidden
          (br_if $hidden (i32.ge_u (local.get $at) (local.get $end)))
          (f32.store (local.get $at) (f32.const -inf))
          (local.set $at (i32.add (local.get $at) (i32.const 4)))
          (br $eachHidden)))
      (local.set $most (v128.const f32x4 -inf -inf -inf -inf))
      (local.set $at (local.get $x))
      (loop $eachFour
        (local.set $most (f32x4.max (local.get $most) (v128.load (local.get $at))))
        (br_if $eachFour (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
      (local.set $most (f32x4.splat (call $max (local.get $most))))
      (local.set $total (v128.const f32x4 0 0 0 0))
      (local.set $at (local.get $x))
      (loop $eachPower
        (v128.store (local.get $at) (call $exp
          (f32x4.mul (local.get $factor) (f32x4.sub (v128.load (local.get $at)) (local.get $most)))))
        (local.set $total (f32x4.add (local.get $total) (v128.load (local.get $at))))
        (br_if $eachPower (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
      (local.set $total (f32x4.splat (f32.div (f32.const 1) (call $sum (local.get $total)))))
      (local.set $at (local.get $x))
      (loop $eachWeight
        (v128.store (local.get $at) (f32x4.mul (local.get $total) (v128.load (local.get $at))))
        (br_if $eachWeight (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 16))) (local.get $end))))
      (local.set $x (local.get $end))
      (local.set $seen (i32.add (local.get $seen) (local.get $more)))
      (br_if $eachRow (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; The gradient of the weights becomes that of the scores: scale · w ⊙ (g - Σ g w) in each row.
  (func (export "softmaxBackward")
    (param $w i32) (param $g i32) (param $columns i32) (param $rows i32) (param $scale f32)
    (local $end i32) (local $row i32) (local $total v128) (local $factor v128)
    (local.set $w (i32.shl (local.get $w) (i32.const 2)))
    (local.set $g (i32.shl (local.get $g) (i32.const 2)))
    (local.set $columns (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $factor (f32x4.splat (local.get $scale)))
    (loop $eachRow
      (local.set $row (local.get $g))
      (local.set $end (i32.add (local.get $g) (local.get $columns)))
      (local.set $total (v128.const f32x4 0 0 0 0))
      (loop $eachProduct
        (local.set $total (call $mulAdd (v128.load (local.get $w)) (v128.load (local.get $g)) (local.get $total)))
        (local.set $w (i32.add (local.get $w) (i32.const 16)))
        (br_if $eachProduct (i32.lt_u (local.tee $g (i32.add (local.get $g) (i32.const 16))) (local.get $end))))
      (local.set $total (f32x4.splat (call $sum (local.get $total))))
      (local.set $w (i32.sub (local.get $w) (local.get $columns)))
      (local.set $g (local.get $row))
      (loop $eachFour
        (v128.store (local.get $g) (f32x4.mul (f32x4.mul (local.get $factor) (v128.load (local.get $w)))
          (f32x4.sub (v128.load (local.get $g)) (local.get $total))))
        (local.set $w (i32.add (local.get $w) (i32.const 16)))
        (br_if $eachFour (i32.lt_u (local.tee $g (i32.add (local.get $g) (i32.const 16))) (local.get $end))))
      (br_if $eachRow (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; y = n ⊙ weight + bias, with n = (x - mean) / √(variance + 1e-5) in each row; n and 1 / √… are kept.
  (func (export "layerNorm")
    (param $x i32) (param $y i32) (param $n i32) (param $inverse i32) (param $weight i32) (param $bias i32)
    (param $rows i32) (param $columns i32)
    (local $k i32) (local $width i32) (local $mean v128) (local $sum v128) (local $four v128) (local $share f32)
    (local.set $share (f32.div (f32.const 1) (f32.convert_i32_u (local.get $columns))))
    (local.set $width (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $x (i32.shl (local.get $x) (i32.const 2)))
    (local.set $y (i32.shl (local.get $y) (i32.const 2)))
    (local.set $n (i32.shl (local.get $n) (i32.const 2)))
    (local.set $inverse (i32.shl (local.get $inverse) (i32.const 2)))
    (local.set $weight (i32.shl (local.get $weight) (i32.const 2)))
    (local.set $bias (i32.shl (local.get $bias) (i32.const 2)))
    (loop $eachRow
      (local.set $sum (v128.const f32x4 0 0 0 0))
      (local.set $k (i32.const 0))
      (loop $eachFour
        (local.set $sum (f32x4.add (local.get $sum) (v128.load (i32.add (local.get $x) (local.get $k)))))
        (br_if $eachFour (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $width))))
      (local.set $mean (f32x4.splat (f32.mul (call $sum (local.get $sum)) (local.get $share))))
      (local.set $sum (v128.const f32x4 0 0 0 0))
      (local.set $k (i32.const 0))
      (loop $eachSquare
        (local.set $four (f32x4.sub (v128.load (i32.add (local.get $x) (local.get $k))) (local.get $mean)))
        (local.set $sum (call $mulAdd (local.get $four) (local.get $four) (local.get $sum)))
        (v128.store (i32.add (local.get $n) (local.get $k)) (local.get $four))
        (br_if $eachSquare (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $width))))
      (f32.store (local.get $inverse) (f32.div (f32.const 1) (f32.sqrt
        (f32.add (f32.mul (call $sum (local.get $sum)) (local.get $share)) (f32.const 1e-5)))))
      (local.set $sum (v128.load32_splat (local.get $inverse)))
      (local.set $k (i32.const 0))
      (loop $eachResult
        (local.set $four (f32x4.mul (v128.load (i32.add (local.get $n) (local.get $k))) (local.get $sum)))
        (v128.store (i32.add (local.get $n) (local.get $k)) (local.get $four))
        (v128.store (i32.add (local.get $y) (local.get $k)) (call $mulAdd (local.get $four)
          (v128.load (i32.add (local.get $weight) (local.get $k))) (v128.load (i32.add (local.get $bias) (local.get $k)))))
        (br_if $eachResult (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $width))))
      (local.set $x (i32.add (local.get $x) (local.get $width)))
      (local.set $y (i32.add (local.get $y) (local.get $width)))
      (local.set $n (i32.add (local.get $n) (local.get $width)))
      (local.set $inverse (i32.add (local.get $inverse) (i32.const 4)))
      (br_if $eachRow (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; From dy in each row dx = (g - mean(g) - n · mean(g ⊙ n)) / √…, with g = dy ⊙ weight. The gradients of weight
  ;; and bias grow by dy ⊙ n and dy.
  (func (export "layerNormBackward")
    (param $dy i32) (param $dx i32) (param $n i32) (param $inverse i32) (param $weight i32)
    (param $dWeight i32) (param $dBias i32) (param $rows i32) (param $columns i32)
    (local $k i32) (local $width i32) (local $mean v128) (local $along v128) (local $scale v128)
    (local $four v128) (local $normed v128) (local $g v128) (local $share f32)
    (local.set $share (f32.div (f32.const 1) (f32.convert_i32_u (local.get $columns))))
    (local.set $width (i32.shl (local.get $columns) (i32.const 2)))
    (local.set $dy (i32.shl (local.get $dy) (i32.const 2)))
    (local.set $dx (i32.shl (local.get $dx) (i32.const 2)))
    (local.set $n (i32.shl (local.get $n) (i32.const 2)))
    (local.set $inverse (i32.shl (local.get $inverse) (i32.const 2)))
    (local.set $weight (i32.shl (local.get $weight) (i32.const 2)))
    (local.set $dWeight (i32.shl (local.get $dWeight) (i32.const 2)))
    (local.set $dBias (i32.shl (local.get $dBias) (i32.const 2)))
    (loop $eachRow
      (local.set $mean (v128.const f32x4 0 0 0 0))
      (local.set $along (v128.const f32x4 0 0 0 0))
      (local.set $k (i32.const 0))
      (loop $eachFour
        (local.set $four (v128.load (i32.add (local.get $dy) (local.get $k))))
        (local.set $normed (v128.load (i32.add (local.get $n) (local.get $k))))
        (local.set $g (f32x4.mul (local.get $four) (v128.load (i32.add (local.get $weight) (local.get $k)))))
        (local.set $mean (f32x4.add (local.get $mean) (local.get $g)))
        (local.set $along (call $mulAdd (local.get $g) (local.get $normed) (local.get $along)))
        (v128.store (i32.add (local.get $dWeight) (local.get $k)) (call $mulAdd (local.get $four) (local.get $normed)
          (v128.load (i32.add (local.get $dWeight) (local.get $k)))))
        (v128.store (i32.add (local.get $dBias) (local.get $k)) (f32x4.add (local.get $four)
          (v128.load (i32.add (local.get $dBias) (local.get $k)))))
        (br_if $eachFour (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $width))))
      (local.set $mean (f32x4.splat (f32.mul (call $sum (local.get $mean)) (local.get $share))))
      (local.set $along (f32x4.splat (f32.mul (call $sum (local.get $along)) (local.get $share))))
      (local.set $scale (v128.load32_splat (local.get $inverse)))
      (local.set $k (i32.const 0))
      (loop $eachResult
        (local.set $g (f32x4.mul
          (v128.load (i32.add (local.get $dy) (local.get $k))) (v128.load (i32.add (local.get $weight) (local.get $k)))))
        (local.set $four (f32x4.mul (local.get $along) (v128.load (i32.add (local.get $n) (local.get $k)))))
        (v128.store (i32.add (local.get $dx) (local.get $k)) (f32x4.mul (local.get $scale)
          (f32x4.sub (f32x4.sub (local.get $g) (local.get $mean)) (local.get $four))))
        (br_if $eachResult (i32.lt_u (local.tee $k (i32.add (local.get $k) (i32.const 16))) (local.get $width))))
      (local.set $dy (i32.add (local.get $dy) (local.get $width)))
      (local.set $dx (i32.add (local.get $dx) (local.get $width)))
      (local.set $n (i32.add (local.get $n) (local.get $width)))
      (local.set $inverse (i32.add (local.get $inverse) (i32.const 4)))
      (br_if $eachRow (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; Each number becomes max(0, x).
  (func (export "relu") (param $x i32) (param $count i32)
    (local $end i32)
    (local.set $x (i32.shl (local.get $x) (i32.const 2)))
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $count) (i32.const 2))))
    (loop $eachFour
      (v128.store (local.get $x) (f32x4.max (v128.load (local.get $x)) (v128.const f32x4 0 0 0 0)))
      (br_if $eachFour (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $end)))))

  ;; The gradient becomes 0 where relu gave 0.
  (func (export "reluBackward") (param $y i32) (param $dy i32) (param $count i32)
    (local $end i32)
    (local.set $y (i32.shl (local.get $y) (i32.const 2)))
    (local.set $dy (i32.shl (local.get $dy) (i32.const 2)))
    (local.set $end (i32.add (local.get $y) (i32.shl (local.get $count) (i32.const 2))))
    (loop $eachFour
      (v128.store (local.get $dy) (v128.and (v128.load (local.get $dy))
        (f32x4.gt (v128.load (local.get $y)) (v128.const f32x4 0 0 0 0))))
      (local.set $dy (i32.add (local.get $dy) (i32.const 16)))
      (br_if $eachFour (i32.lt_u (local.tee $y (i32.add (local.get $y) (i32.const 16))) (local.get $end)))))

  ;; to = to + x
  (func $add (export "add") (param $x i32) (param $to i32) (param $count i32)
    (local $end i32)
    (local.set $x (i32.shl (local.get $x) (i32.const 2)))
    (local.set $to (i32.shl (local.get $to) (i32.const 2)))
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $count) (i32.const 2))))
    (loop $eachFour
      (v128.store (local.get $to) (f32x4.add (v128.load (local.get $to)) (v128.load (local.get $x))))
      (local.set $to (i32.add (local.get $to) (i32.const 16)))
      (br_if $eachFour (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $end)))))

  ;; to = to + the sum of the rows
  (func (export "addRows") (param $x i32) (param $to i32) (param $rows i32) (param $columns i32)
    (loop $eachRow
      (call $add (local.get $x) (local.get $to) (local.get $columns))
      (local.set $x (i32.add (local.get $x) (local.get $columns)))
      (br_if $eachRow (local.tee $rows (i32.sub (local.get $rows) (i32.const 1))))))

  ;; Each number becomes factor · x + shift.
  (func (export "scale") (param $x i32) (param $count i32) (param $factor f32) (param $shift f32)
    (local $end i32)
    (local.set $x (i32.shl (local.get $x) (i32.const 2)))
    (local.set $end (i32.add (local.get $x) (i32.shl (local.get $count) (i32.const 2))))
    (loop $eachFour
      (v128.store (local.get $x) (call $mulAdd
        (v128.load (local.get $x)) (f32x4.splat (local.get $factor)) (f32x4.splat (local.get $shift))))
      (br_if $eachFour (i32.lt_u (local.tee $x (i32.add (local.get $x) (i32.const 16))) (local.get $end)))))

  ;; A step of Adam for `count` parameters; the gradients are 0 afterwards.
  (func (export "adam")
    (param $p i32) (param $g i32) (param $m i32) (param $v i32) (param $count i32)
    (param $rate f32) (param $root f32) (param $beta1 f32) (param $beta2 f32) (param $epsilon f32)
    (local $end i32) (local $gradient v128) (local $first v128) (local $second v128)
    (local.set $p (i32.shl (local.get $p) (i32.const 2)))
    (local.set $g (i32.shl (local.get $g) (i32.const 2)))
    (local.set $m (i32.shl (local.get $m) (i32.const 2)))
    (local.set $v (i32.shl (local.get $v) (i32.const 2)))
    (local.set $end (i32.add (local.get $p) (i32.shl (local.get $count) (i32.const 2))))
    (loop $eachFour
      (local.set $gradient (v128.load (local.get $g)))
      (v128.store (local.get $g) (v128.const f32x4 0 0 0 0))
      (local.set $first (f32x4.add
        (f32x4.mul (f32x4.splat (local.get $beta1)) (v128.load (local.get $m)))
        (f32x4.mul (f32x4.splat (f32.sub (f32.const 1) (local.get $beta1))) (local.get $gradient))))
      (local.set $second (f32x4.add
        (f32x4.mul (f32x4.splat (local.get $beta2)) (v128.load (local.get $v)))
        (f32x4.mul (f32x4.splat (f32.sub (f32.const 1) (local.get $beta2)))
          (f32x4.mul (local.get $gradient) (local.get $gradient)))))
      (v128.store (local.get $m) (local.get $first))
      (v128.store (local.get $v) (local.get $second))
      (v128.store (local.get $p) (f32x4.sub (v128.load (local.get $p)) (f32x4.div
        (f32x4.mul (f32x4.splat (local.get $rate)) (local.get $first))
        (f32x4.add (f32x4.splat (local.get $epsilon))
          (f32x4.mul (f32x4.splat (local.get $root)) (f32x4.sqrt (local.get $second)))))))
      (local.set $g (i32.add (local.get $g) (i32.const 16)))
      (local.set $m (i32.add (local.get $m) (i32.const 16)))
      (local.set $v (i32.add (local.get $v) (i32.const 16)))
      (br_if $eachFour (i32.lt_u (local.tee $p (i32.add (local.get $p) (i32.const 16))) (local.get $end))))))
