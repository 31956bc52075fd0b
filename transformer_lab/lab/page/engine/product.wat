;; c = a b + start, a product of matrices, in WebAssembly with 128-bit SIMD.
;;
;; All matrices lie in this module's memory as 32-bit floats. An address and a step from one number to
;; another are counted in floats:
;;   a      rows × inner, with a step from row to row and one from column to column, so aᵀ is read where a lies
;;   b      inner × columns, each row in one piece
;;   start  rows × columns, what the sums begin with: a bias (with a step of 0 from row to row), zeros, or c itself
;;   c      rows × columns
;; `rows` and `inner` are at least 1, and `columns` is a multiple of 4. Rows are taken two by two, because then
;; each number of b that is loaded is used twice, and columns 16 at a time, as long as there are so many.
(module
  (memory (export "memory") 1)

  ;; 16 columns of c.
  (func $sixteen
    (param $a i32) (param $aRow i32) (param $aColumn i32) (param $b i32) (param $bRow i32)
    (param $c i32) (param $cRow i32) (param $start i32) (param $startRow i32) (param $rows i32) (param $inner i32)
    (local $next i32) (local $other i32) (local $k i32) (local $from i32) (local $to i32)
    (local $x0 v128) (local $x1 v128) (local $x2 v128) (local $x3 v128)
    (local $y0 v128) (local $y1 v128) (local $y2 v128) (local $y3 v128)
    (local $first v128) (local $second v128) (local $four v128)
    (loop $eachPair
      ;; the second row of the pair; the last row of an odd number is its own companion
      (local.set $next (i32.gt_u (local.get $rows) (i32.const 1)))
      (local.set $other (i32.add (local.get $a) (i32.mul (local.get $next) (local.get $aRow))))
      (local.set $from (i32.add (local.get $start) (i32.mul (local.get $next) (local.get $startRow))))
      (local.set $x0 (v128.load (local.get $start)))
      (local.set $x1 (v128.load offset=16 (local.get $start)))
      (local.set $x2 (v128.load offset=32 (local.get $start)))
      (local.set $x3 (v128.load offset=48 (local.get $start)))
      (local.set $y0 (v128.load (local.get $from)))
      (local.set $y1 (v128.load offset=16 (local.get $from)))
      (local.set $y2 (v128.load offset=32 (local.get $from)))
      (local.set $y3 (v128.load offset=48 (local.get $from)))
      (local.set $from (local.get $b))
      (local.set $to (local.get $a)) ;; walks along the first row of a, and $other along the second
      (local.set $k (local.get $inner))
      (loop $eachNumber
        (local.set $first (v128.load32_splat (local.get $to)))
        (local.set $second (v128.load32_splat (local.get $other)))
        (local.set $four (v128.load (local.get $from)))
        (local.set $x0 (f32x4.add (local.get $x0) (f32x4.mul (local.get $first) (local.get $four))))
        (local.set $y0 (f32x4.add (local.get $y0) (f32x4.mul (local.get $second) (local.get $four))))
        (local.set $four (v128.load offset=16 (local.get $from)))
        (local.set $x1 (f32x4.add (local.get $x1) (f32x4.mul (local.get $first) (local.get $four))))
        (local.set $y1 (f32x4.add (local.get $y1) (f32x4.mul (local.get $second) (local.get $four))))
        (local.set $four (v128.load offset=32 (local.get $from)))
        (local.set $x2 (f32x4.add (local.get $x2) (f32x4.mul (local.get $first) (local.get $four))))
        (local.set $y2 (f32x4.add (local.get $y2) (f32x4.mul (local.get $second) (local.get $four))))
        (local.set $four (v128.load offset=48 (local.get $from)))
        (local.set $x3 (f32x4.add (local.get $x3) (f32x4.mul (local.get $first) (local.get $four))))
        (local.set $y3 (f32x4.add (local.get $y3) (f32x4.mul (local.get $second) (local.get $four))))
        (local.set $to (i32.add (local.get $to) (local.get $aColumn)))
        (local.set $other (i32.add (local.get $other) (local.get $aColumn)))
        (local.set $from (i32.add (local.get $from) (local.get $bRow)))
        (br_if $eachNumber (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))
      (local.set $to (i32.add (local.get $c) (i32.mul (local.get $next) (local.get $cRow))))
      (v128.store (local.get $c) (local.get $x0))
      (v128.store offset=16 (local.get $c) (local.get $x1))
      (v128.store offset=32 (local.get $c) (local.get $x2))
      (v128.store offset=48 (local.get $c) (local.get $x3))
      (v128.store (local.get $to) (local.get $y0))
      (v128.store offset=16 (local.get $to) (local.get $y1))
      (v128.store offset=32 (local.get $to) (local.get $y2))
      (v128.store offset=48 (local.get $to) (local.get $y3))
      (local.set $a (i32.add (local.get $a) (i32.shl (local.get $aRow) (i32.const 1))))
      (local.set $c (i32.add (local.get $c) (i32.shl (local.get $cRow) (i32.const 1))))
      (local.set $start (i32.add (local.get $start) (i32.shl (local.get $startRow) (i32.const 1))))
      (br_if $eachPair (i32.gt_s (local.tee $rows (i32.sub (local.get $rows) (i32.const 2))) (i32.const 0)))))

  ;; 4 columns of c.
  (func $four
    (param $a i32) (param $aRow i32) (param $aColumn i32) (param $b i32) (param $bRow i32)
    (param $c i32) (param $cRow i32) (param $start i32) (param $startRow i32) (param $rows i32) (param $inner i32)
    (local $next i32) (local $other i32) (local $k i32) (local $from i32) (local $to i32)
    (local $x0 v128)
    (local $y0 v128)
    (local $first v128) (local $second v128) (local $four v128)
    (loop $eachPair
      ;; the second row of the pair; the last row of an odd number is its own companion
      (local.set $next (i32.gt_u (local.get $rows) (i32.const 1)))
      (local.set $other (i32.add (local.get $a) (i32.mul (local.get $next) (local.get $aRow))))
      (local.set $from (i32.add (local.get $start) (i32.mul (local.get $next) (local.get $startRow))))
      (local.set $x0 (v128.load (local.get $start)))
      (local.set $y0 (v128.load (local.get $from)))
      (local.set $from (local.get $b))
      (local.set $to (local.get $a)) ;; walks along the first row of a, and $other along the second
      (local.set $k (local.get $inner))
      (loop $eachNumber
        (local.set $first (v128.load32_splat (local.get $to)))
        (local.set $second (v128.load32_splat (local.get $other)))
        (local.set $four (v128.load (local.get $from)))
        (local.set $x0 (f32x4.add (local.get $x0) (f32x4.mul (local.get $first) (local.get $four))))
        (local.set $y0 (f32x4.add (local.get $y0) (f32x4.mul (local.get $second) (local.get $four))))
        (local.set $to (i32.add (local.get $to) (local.get $aColumn)))
        (local.set $other (i32.add (local.get $other) (local.get $aColumn)))
        (local.set $from (i32.add (local.get $from) (local.get $bRow)))
        (br_if $eachNumber (local.tee $k (i32.sub (local.get $k) (i32.const 1)))))
      (local.set $to (i32.add (local.get $c) (i32.mul (local.get $next) (local.get $cRow))))
      (v128.store (local.get $c) (local.get $x0))
      (v128.store (local.get $to) (local.get $y0))
      (local.set $a (i32.add (local.get $a) (i32.shl (local.get $aRow) (i32.const 1))))
      (local.set $c (i32.add (local.get $c) (i32.shl (local.get $cRow) (i32.const 1))))
      (local.set $start (i32.add (local.get $start) (i32.shl (local.get $startRow) (i32.const 1))))
      (br_if $eachPair (i32.gt_s (local.tee $rows (i32.sub (local.get $rows) (i32.const 2))) (i32.const 0)))))

  (func (export "multiply")
    (param $a i32) (param $aRow i32) (param $aColumn i32) (param $b i32) (param $bRow i32)
    (param $c i32) (param $cRow i32) (param $start i32) (param $startRow i32)
    (param $rows i32) (param $inner i32) (param $columns i32)
    ;; from floats to bytes
    (local.set $a (i32.shl (local.get $a) (i32.const 2)))
    (local.set $aRow (i32.shl (local.get $aRow) (i32.const 2)))
    (local.set $aColumn (i32.shl (local.get $aColumn) (i32.const 2)))
    (local.set $b (i32.shl (local.get $b) (i32.const 2)))
    (local.set $bRow (i32.shl (local.get $bRow) (i32.const 2)))
    (local.set $c (i32.shl (local.get $c) (i32.const 2)))
    (local.set $cRow (i32.shl (local.get $cRow) (i32.const 2)))
    (local.set $start (i32.shl (local.get $start) (i32.const 2)))
    (local.set $startRow (i32.shl (local.get $startRow) (i32.const 2)))
    (block $done16
      (loop $each16
        (br_if $done16 (i32.lt_s (local.get $columns) (i32.const 16)))
        (call $sixteen (local.get $a) (local.get $aRow) (local.get $aColumn) (local.get $b) (local.get $bRow)
          (local.get $c) (local.get $cRow) (local.get $start) (local.get $startRow) (local.get $rows) (local.get $inner))
        (local.set $b (i32.add (local.get $b) (i32.const 64)))
        (local.set $c (i32.add (local.get $c) (i32.const 64)))
        (local.set $start (i32.add (local.get $start) (i32.const 64)))
        (local.set $columns (i32.sub (local.get $columns) (i32.const 16)))
        (br $each16)))
    (block $done4
      (loop $each4
        (br_if $done4 (i32.lt_s (local.get $columns) (i32.const 4)))
        (call $four (local.get $a) (local.get $aRow) (local.get $aColumn) (local.get $b) (local.get $bRow)
          (local.get $c) (local.get $cRow) (local.get $start) (local.get $startRow) (local.get $rows) (local.get $inner))
        (local.set $b (i32.add (local.get $b) (i32.const 16)))
        (local.set $c (i32.add (local.get $c) (i32.const 16)))
        (local.set $start (i32.add (local.get $start) (i32.const 16)))
        (local.set $columns (i32.sub (local.get $columns) (i32.const 4)))
        (br $each4)))))
