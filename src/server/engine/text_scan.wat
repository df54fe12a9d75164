;; Reads a part of a masked WebSocket message in JSON: removes the mask, and finds the quotes that begin and end strings. Each
;; turn takes 64 bytes; a bit of an i64 is for a byte of these, the lowest for the first one.
(module
  ;; The part begins at 0. At 65536, the number of quotes that were found, as u32, and then their positions, at most 4,096.
  (memory (export "memory") 2)

  ;; `state` is what the part before returned, 0 for the first part:
  ;;   1: a byte was not ASCII, 2: a byte was a control character, 4: there was a backslash, 8: an escape was invalid,
  ;;   16: the next byte is escaped, 32 to 256: the next byte, the one after it, and so on, must be a hexadecimal digit.
  ;; The 63 bytes after the part may be overwritten.
  (func (export "scan") (param $length i32) (param $mask i32) (param $state i32) (result i32)
    (local $at i32) (local $quarter i32) (local $end i32) (local $shift i64) (local $count i32)
    (local $masks v128) (local $v v128) (local $all v128) (local $controls v128)
    (local $inside i64) (local $left i32) (local $quotes i64) (local $backslashes i64)
    (local $escaped i64) (local $wasEscaped i64) (local $follows i64) (local $starts i64) (local $sum i64)
    (local $hex i64) (local $beyond i64) (local $valid i64) (local $u i64) (local $digits i64)
    (local $seen i64) (local $bad i64)
    (local.set $wasEscaped (i64.extend_i32_u (i32.and (i32.shr_u (local.get $state) (i32.const 4)) (i32.const 1))))
    (local.set $hex (i64.extend_i32_u (i32.shr_u (local.get $state) (i32.const 5))))
    (local.set $masks (i32x4.splat (local.get $mask)))

    ;; What follows the part up to a whole turn becomes spaces.
    (local.set $at (local.get $length))
    (block $padded (loop $pad
      (br_if $padded (i32.eqz (i32.and (local.get $at) (i32.const 63))))
      (i32.store8 (local.get $at)
        (i32.xor (i32.const 0x20) (i32.shr_u (local.get $mask) (i32.shl (i32.and (local.get $at) (i32.const 3)) (i32.const 3)))))
      (local.set $at (i32.add (local.get $at) (i32.const 1)))
      (br $pad)))

    (local.set $at (i32.const 0))
    (block $done (loop $turn
      (br_if $done (i32.ge_u (local.get $at) (local.get $length)))
      (local.set $end (i32.add (local.get $at) (i32.const 64)))

      (local.set $quotes (i64.const 0))
      (local.set $backslashes (i64.const 0))
      (local.set $quarter (local.get $at))
      (local.set $shift (i64.const 0))
      (loop $quarters
        (local.set $v (v128.xor (v128.load (local.get $quarter)) (local.get $masks)))
        (v128.store (local.get $quarter) (local.get $v))
        (local.set $all (v128.or (local.get $all) (local.get $v)))
        (local.set $controls (v128.or (local.get $controls) (i8x16.lt_u (local.get $v) (i8x16.splat (i32.const 0x20)))))
        (local.set $quotes (i64.or (local.get $quotes) (i64.shl
          (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x22))))) (local.get $shift))))
        (local.set $backslashes (i64.or (local.get $backslashes) (i64.shl
          (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x5c))))) (local.get $shift))))
        (local.set $shift (i64.add (local.get $shift) (i64.const 16)))
        (br_if $quarters (i32.lt_u (local.tee $quarter (i32.add (local.get $quarter) (i32.const 16))) (local.get $end))))

      (if (i64.ne (i64.const 0) (i64.or (local.get $backslashes) (i64.or (local.get $wasEscaped) (local.get $hex))))
        (then
          ;; The bytes of this turn that belong to the part.
          (local.set $left (i32.sub (local.get $length) (local.get $at)))
          (local.set $inside (i64.const -1))
          (if (i32.lt_u (local.get $left) (i32.const 64)) (then (local.set $inside
            (i64.sub (i64.shl (i64.const 1) (i64.extend_i32_u (local.get $left))) (i64.const 1)))))
          (local.set $seen (i64.or (local.get $seen) (local.get $backslashes)))

          ;; Of backslashes in a row, the second one is escaped, the fourth one, and so on; so is what follows an odd number
          ;; of them. To add the beginning of such a row makes the row carry a bit to the place behind it.
          (local.set $backslashes (i64.and (local.get $backslashes) (i64.xor (local.get $wasEscaped) (i64.const -1))))
          (local.set $follows (i64.or (i64.shl (local.get $backslashes) (i64.const 1)) (local.get $wasEscaped)))
          (local.set $starts (i64.and (i64.and (local.get $backslashes) (i64.const 0xaaaaaaaaaaaaaaaa))
            (i64.xor (local.get $follows) (i64.const -1))))
          (local.set $sum (i64.add (local.get $starts) (local.get $backslashes)))
          (local.set $escaped (i64.and (local.get $follows)
            (i64.xor (i64.const 0x5555555555555555) (i64.shl (local.get $sum) (i64.const 1)))))
          (local.set $wasEscaped (if (result i64) (i32.lt_u (local.get $left) (i32.const 64))
            (then (i64.and (i64.const 1) (i64.shr_u (local.get $escaped) (i64.extend_i32_u (local.get $left)))))
            (else (i64.extend_i32_u (i64.lt_u (local.get $sum) (local.get $starts))))))
          (local.set $escaped (i64.and (local.get $escaped) (local.get $inside)))

          ;; An escaped byte is one of "\/bfnrtu: each has its own pair of halves, looked up in two tables.
          (local.set $valid (i64.const 0))
          (local.set $u (i64.const 0))
          (local.set $quarter (local.get $at))
          (local.set $shift (i64.const 0))
          (loop $quarters
            (local.set $v (v128.load (local.get $quarter)))
            (local.set $valid (i64.or (local.get $valid) (i64.shl (i64.extend_i32_u (i8x16.bitmask (i8x16.ne
              (v128.and
                (i8x16.swizzle (v128.const i8x16 0 0 13 0 8 8 4 0 0 0 0 0 2 0 4 1)
                  (v128.and (local.get $v) (i8x16.splat (i32.const 15))))
                (i8x16.swizzle (v128.const i8x16 0 0 1 0 0 2 4 8 0 0 0 0 0 0 0 0)
                  (i8x16.shr_u (local.get $v) (i32.const 4))))
              (v128.const i64x2 0 0)))) (local.get $shift))))
            (local.set $u (i64.or (local.get $u) (i64.shl
              (i64.extend_i32_u (i8x16.bitmask (i8x16.eq (local.get $v) (i8x16.splat (i32.const 0x75))))) (local.get $shift))))
            (local.set $shift (i64.add (local.get $shift) (i64.const 16)))
            (br_if $quarters (i32.lt_u (local.tee $quarter (i32.add (local.get $quarter) (i32.const 16))) (local.get $end))))
          (local.set $bad (i64.or (local.get $bad)
            (i64.and (local.get $escaped) (i64.xor (local.get $valid) (i64.const -1)))))

          ;; Four hexadecimal digits follow an escaped u.
          (local.set $u (i64.and (local.get $u) (local.get $escaped)))
          (if (i64.ne (i64.const 0) (i64.or (local.get $u) (local.get $hex)))
            (then
              (local.set $beyond (i64.or
                (i64.or (i64.shr_u (local.get $u) (i64.const 63)) (i64.shr_u (local.get $u) (i64.const 62)))
                (i64.or (i64.shr_u (local.get $u) (i64.const 61)) (i64.shr_u (local.get $u) (i64.const 60)))))
              (local.set $hex (i64.or (local.get $hex) (i64.or
                (i64.or (i64.shl (local.get $u) (i64.const 1)) (i64.shl (local.get $u) (i64.const 2)))
                (i64.or (i64.shl (local.get $u) (i64.const 3)) (i64.shl (local.get $u) (i64.const 4))))))
              (local.set $digits (i64.const 0))
              (local.set $quarter (local.get $at))
              (local.set $shift (i64.const 0))
              (loop $quarters
                (local.set $v (v128.load (local.get $quarter)))
                (local.set $digits (i64.or (local.get $digits) (i64.shl (i64.extend_i32_u (i8x16.bitmask (v128.or
                  (i8x16.lt_u (i8x16.sub (local.get $v) (i8x16.splat (i32.const 0x30))) (i8x16.splat (i32.const 10)))
                  (i8x16.lt_u (i8x16.sub (v128.or (local.get $v) (i8x16.splat (i32.const 0x20)))
                    (i8x16.splat (i32.const 0x61))) (i8x16.splat (i32.const 6)))))) (local.get $shift))))
                (local.set $shift (i64.add (local.get $shift) (i64.const 16)))
                (br_if $quarters (i32.lt_u (local.tee $quarter (i32.add (local.get $quarter) (i32.const 16))) (local.get $end))))
              (local.set $bad (i64.or (local.get $bad) (i64.and (i64.and (local.get $hex) (local.get $inside))
                (i64.xor (local.get $digits) (i64.const -1)))))
              (local.set $hex (if (result i64) (i32.lt_u (local.get $left) (i32.const 64))
                (then (i64.or (i64.shr_u (local.get $hex) (i64.extend_i32_u (local.get $left)))
                  (i64.shl (local.get $beyond) (i64.extend_i32_u (i32.sub (i32.const 64) (local.get $left))))))
                (else (local.get $beyond))))))
          (local.set $quotes (i64.and (local.get $quotes) (i64.xor (local.get $escaped) (i64.const -1))))))

      (block $none (loop $next
        (br_if $none (i64.eqz (local.get $quotes)))
        (if (i32.lt_u (local.get $count) (i32.const 4096)) (then
          (i32.store (i32.add (i32.const 65540) (i32.shl (local.get $count) (i32.const 2)))
            (i32.add (local.get $at) (i32.wrap_i64 (i64.ctz (local.get $quotes)))))))
        (local.set $count (i32.add (local.get $count) (i32.const 1)))
        (local.set $quotes (i64.and (local.get $quotes) (i64.sub (local.get $quotes) (i64.const 1))))
        (br $next)))
      (local.set $at (local.get $end))
      (br $turn)))

    (i32.store (i32.const 65536) (local.get $count))
    (i32.or
      (i32.or
        (i32.or
          (i32.and (local.get $state) (i32.const 15))
          (i32.ne (i32.const 0) (i8x16.bitmask (local.get $all))))
        (i32.or
          (i32.shl (v128.any_true (local.get $controls)) (i32.const 1))
          (i32.shl (i64.ne (i64.const 0) (local.get $seen)) (i32.const 2))))
      (i32.or
        (i32.shl (i64.ne (i64.const 0) (local.get $bad)) (i32.const 3))
        (i32.or
          (i32.shl (i32.wrap_i64 (local.get $wasEscaped)) (i32.const 4))
          (i32.shl (i32.wrap_i64 (local.get $hex)) (i32.const 5)))))))
