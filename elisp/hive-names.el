;;; hive-names.el --- Names that Emacs and its sidecar share  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The sidecar decides these names and values, and Emacs must know them before
;; a sidecar runs.  `npm run format' generates this file from the constants of
;; src/; do not edit it.

;;; Code:

(defconst hive-program-node-version "24.15.0"
  "The oldest Node.js that runs the sidecar.")

(defconst hive-rpc-codes
  '((parse . -32700)
    (invalid-request . -32600)
    (method-not-found . -32601)
    (invalid-params . -32602)
    (internal . -32603)
    (transient . -32001)
    (definite . -32002))
  "The codes of errors.
A request that failed with `transient' may be sent again.")

(defconst hive-attention-settings
  '((notify_when seat "when popups are shown; unfocused: only while no Emacs of yours has the focus; urgent: only what is critical"
     choice (always unfocused urgent never))
    (quiet_hours seat "the time of day in which only what is critical pops up, such as 22:00-07:30"
     hours)
    (sound seat "popups make a sound"
     yes-no)
    (phone_after seat "seconds without the focus in any Emacs of yours after which your phone is notified; what is critical goes at once"
     whole-number)
    (notify_held seat "seconds after which a notice names an agent that a mention holds; 0 is at once"
     word-or-number (never) "seconds")
    (gate seat "what unprocessed mentions do to tool calls; strict: they hold your own messages too; off: they wake nobody either"
     choice (strict block remind off))
    (stop_guard seat "agents do not stop while they owe something: unread answers, urgent mentions, a report"
     yes-no)
    (stop_wait seat "seconds that an unattended agent waits for your answer before it stops"
     whole-number)
    (dialog_wait seat "seconds that a client's permissions and questions can be answered at a desk; usual: a day for Claude Code; for Codex its questions and commands, while it shows them"
     word-or-number (usual on off) "seconds")
    (wake seat "hours in which answers and mentions wake an agent that has become idle"
     word-or-number (off) "hours")
    (allow_ping everywhere "background sessions may show you pings and cards"
     yes-no)
    (report_policy everywhere "when background sessions owe a report before they stop"
     choice (on_ping always freely remind blocked))
    (popup_permissions connection "the buttons of a popup may answer a permission"
     yes-no)
    (notify_command connection "a shell command that gets each notification as JSON on its standard input"
     command))
  "The settings of the option `hive-settings'.
Each has its name, its scope, what it means, its kind, and the words
and the unit that the kind takes.  Those of the scope `connection' are
not stored.")

(defconst hive-text-visible
  '((#x21 . #x7e) (#xa1 . #xac) (#xae . #x2ff) (#x370 . #x377) (#x37a . #x37f) (#x384 . #x38a)
    #x38c (#x38e . #x3a1) (#x3a3 . #x482) (#x48a . #x52f) (#x531 . #x556) (#x559 . #x58a)
    (#x58d . #x58f) #x5be #x5c0 #x5c3 #x5c6 (#x5d0 . #x5ea) (#x5ef . #x5f4) (#x606 . #x60f)
    (#x61d . #x64a) (#x660 . #x66f) (#x671 . #x6d5) (#x6e5 . #x6e6) #x6e9 (#x6ee . #x70d)
    #x710 (#x712 . #x72f) (#x74d . #x7a5) #x7b1 (#x7c0 . #x7ea) (#x7f4 . #x7fa) (#x7fe .
    #x815) #x824 (#x830 . #x83e) (#x840 . #x858) #x85e (#x860 . #x86a) (#x870 . #x88e) (#x8a0
    . #x8c9) (#x904 . #x939) #x93d #x950 (#x958 . #x961) (#x964 . #x980) (#x985 . #x98c)
    (#x98f . #x990) (#x993 . #x9a8) (#x9aa . #x9b0) #x9b2 (#x9b6 . #x9b9) #x9bd #x9ce (#x9dc .
    #x9dd) (#x9df . #x9e1) (#x9e6 . #x9fd) (#xa05 . #xa0a) (#xa0f . #xa10) (#xa13 . #xa28)
    (#xa2a . #xa30) (#xa32 . #xa33) (#xa35 . #xa36) (#xa38 . #xa39) (#xa59 . #xa5c) #xa5e
    (#xa66 . #xa6f) (#xa72 . #xa74) #xa76 (#xa85 . #xa8d) (#xa8f . #xa91) (#xa93 . #xaa8)
    (#xaaa . #xab0) (#xab2 . #xab3) (#xab5 . #xab9) #xabd #xad0 (#xae0 . #xae1) (#xae6 .
    #xaf1) #xaf9 (#xb05 . #xb0c) (#xb0f . #xb10) (#xb13 . #xb28) (#xb2a . #xb30) (#xb32 .
    #xb33) (#xb35 . #xb39) #xb3d (#xb5c . #xb5d) (#xb5f . #xb61) (#xb66 . #xb77) #xb83 (#xb85
    . #xb8a) (#xb8e . #xb90) (#xb92 . #xb95) (#xb99 . #xb9a) #xb9c (#xb9e . #xb9f) (#xba3 .
    #xba4) (#xba8 . #xbaa) (#xbae . #xbb9) #xbd0 (#xbe6 . #xbfa) (#xc05 . #xc0c) (#xc0e .
    #xc10) (#xc12 . #xc28) (#xc2a . #xc39) #xc3d (#xc58 . #xc5a) #xc5d (#xc60 . #xc61) (#xc66
    . #xc6f) (#xc77 . #xc80) (#xc84 . #xc8c) (#xc8e . #xc90) (#xc92 . #xca8) (#xcaa . #xcb3)
    (#xcb5 . #xcb9) #xcbd (#xcdd . #xcde) (#xce0 . #xce1) (#xce6 . #xcef) (#xcf1 . #xcf2)
    (#xd04 . #xd0c) (#xd0e . #xd10) (#xd12 . #xd3a) #xd3d (#xd4e . #xd4f) (#xd54 . #xd56)
    (#xd58 . #xd61) (#xd66 . #xd7f) (#xd85 . #xd96) (#xd9a . #xdb1) (#xdb3 . #xdbb) #xdbd
    (#xdc0 . #xdc6) (#xde6 . #xdef) #xdf4 (#xe01 . #xe30) (#xe32 . #xe33) (#xe3f . #xe46)
    (#xe4f . #xe5b) (#xe81 . #xe82) #xe84 (#xe86 . #xe8a) (#xe8c . #xea3) #xea5 (#xea7 .
    #xeb0) (#xeb2 . #xeb3) #xebd (#xec0 . #xec4) #xec6 (#xed0 . #xed9) (#xedc . #xedf) (#xf00
    . #xf17) (#xf1a . #xf34) #xf36 #xf38 (#xf3a . #xf3d) (#xf40 . #xf47) (#xf49 . #xf6c) #xf85
    (#xf88 . #xf8c) (#xfbe . #xfc5) (#xfc7 . #xfcc) (#xfce . #xfda) (#x1000 . #x102a) (#x103f
    . #x1055) (#x105a . #x105d) #x1061 (#x1065 . #x1066) (#x106e . #x1070) (#x1075 . #x1081)
    #x108e (#x1090 . #x1099) (#x109e . #x10c5) #x10c7 #x10cd (#x10d0 . #x115e) (#x1200 .
    #x1248) (#x124a . #x124d) (#x1250 . #x1256) #x1258 (#x125a . #x125d) (#x1260 . #x1288)
    (#x128a . #x128d) (#x1290 . #x12b0) (#x12b2 . #x12b5) (#x12b8 . #x12be) #x12c0 (#x12c2 .
    #x12c5) (#x12c8 . #x12d6) (#x12d8 . #x1310) (#x1312 . #x1315) (#x1318 . #x135a) (#x1360 .
    #x137c) (#x1380 . #x1399) (#x13a0 . #x13f5) (#x13f8 . #x13fd) (#x1400 . #x167f) (#x1681 .
    #x169c) (#x16a0 . #x16f8) (#x1700 . #x1711) (#x171f . #x1731) (#x1735 . #x1736) (#x1740 .
    #x1751) (#x1760 . #x176c) (#x176e . #x1770) (#x1780 . #x17b3) (#x17d4 . #x17dc) (#x17e0 .
    #x17e9) (#x17f0 . #x17f9) (#x1800 . #x180a) (#x1810 . #x1819) (#x1820 . #x1878) (#x1880 .
    #x1884) (#x1887 . #x18a8) #x18aa (#x18b0 . #x18f5) (#x1900 . #x191e) #x1940 (#x1944 .
    #x196d) (#x1970 . #x1974) (#x1980 . #x19ab) (#x19b0 . #x19c9) (#x19d0 . #x19da) (#x19de .
    #x1a16) (#x1a1e . #x1a54) (#x1a80 . #x1a89) (#x1a90 . #x1a99) (#x1aa0 . #x1aad) (#x1b05 .
    #x1b33) (#x1b45 . #x1b4c) (#x1b50 . #x1b6a) (#x1b74 . #x1b7e) (#x1b83 . #x1ba0) (#x1bae .
    #x1be5) (#x1bfc . #x1c23) (#x1c3b . #x1c49) (#x1c4d . #x1c88) (#x1c90 . #x1cba) (#x1cbd .
    #x1cc7) #x1cd3 (#x1ce9 . #x1cec) (#x1cee . #x1cf3) (#x1cf5 . #x1cf6) #x1cfa (#x1d00 .
    #x1dbf) (#x1e00 . #x1f15) (#x1f18 . #x1f1d) (#x1f20 . #x1f45) (#x1f48 . #x1f4d) (#x1f50 .
    #x1f57) #x1f59 #x1f5b #x1f5d (#x1f5f . #x1f7d) (#x1f80 . #x1fb4) (#x1fb6 . #x1fc4) (#x1fc6
    . #x1fd3) (#x1fd6 . #x1fdb) (#x1fdd . #x1fef) (#x1ff2 . #x1ff4) (#x1ff6 . #x1ffe) (#x2010
    . #x2027) (#x2030 . #x205e) (#x2070 . #x2071) (#x2074 . #x208e) (#x2090 . #x209c) (#x20a0
    . #x20c0) (#x2100 . #x218b) (#x2190 . #x2426) (#x2440 . #x244a) (#x2460 . #x27ff) (#x2801
    . #x2b73) (#x2b76 . #x2b95) (#x2b97 . #x2cee) (#x2cf2 . #x2cf3) (#x2cf9 . #x2d25) #x2d27
    #x2d2d (#x2d30 . #x2d67) (#x2d6f . #x2d70) (#x2d80 . #x2d96) (#x2da0 . #x2da6) (#x2da8 .
    #x2dae) (#x2db0 . #x2db6) (#x2db8 . #x2dbe) (#x2dc0 . #x2dc6) (#x2dc8 . #x2dce) (#x2dd0 .
    #x2dd6) (#x2dd8 . #x2dde) (#x2e00 . #x2e5d) (#x2e80 . #x2e99) (#x2e9b . #x2ef3) (#x2f00 .
    #x2fd5) (#x2ff0 . #x2ffb) (#x3001 . #x3029) (#x3030 . #x303f) (#x3041 . #x3096) (#x309b .
    #x30ff) (#x3105 . #x312f) (#x3131 . #x3163) (#x3165 . #x318e) (#x3190 . #x31e3) (#x31f0 .
    #x321e) (#x3220 . #xa48c) (#xa490 . #xa4c6) (#xa4d0 . #xa62b) (#xa640 . #xa66e) #xa673
    (#xa6a0 . #xa6ef) (#xa6f2 . #xa6f7) (#xa700 . #xa7ca) (#xa7d0 . #xa7d1) #xa7d3 (#xa7d5 .
    #xa7d9) (#xa7f2 . #xa801) (#xa803 . #xa805) (#xa807 . #xa80a) (#xa80c . #xa822) (#xa828 .
    #xa82b) (#xa830 . #xa839) (#xa840 . #xa877) (#xa882 . #xa8b3) (#xa8ce . #xa8d9) (#xa8f2 .
    #xa8fe) (#xa900 . #xa925) (#xa92e . #xa946) (#xa95f . #xa97c) (#xa9c1 . #xa9cd) (#xa9cf .
    #xa9d9) (#xa9de . #xa9e4) (#xa9e6 . #xa9fe) (#xaa00 . #xaa28) (#xaa40 . #xaa42) (#xaa44 .
    #xaa4b) (#xaa50 . #xaa59) (#xaa5c . #xaa7a) (#xaa7e . #xaaaf) #xaab1 (#xaab5 . #xaab6)
    (#xaab9 . #xaabd) #xaac0 #xaac2 (#xaadb . #xaaea) (#xaaf0 . #xaaf4) (#xab01 . #xab06)
    (#xab09 . #xab0e) (#xab11 . #xab16) (#xab20 . #xab26) (#xab28 . #xab2e) (#xab30 . #xab6b)
    (#xab70 . #xabe2) #xabeb (#xabf0 . #xabf9) (#xac00 . #xd7a3) (#xf900 . #xfa6d) (#xfa70 .
    #xfad9) (#xfb00 . #xfb06) (#xfb13 . #xfb17) #xfb1d (#xfb1f . #xfb36) (#xfb38 . #xfb3c)
    #xfb3e (#xfb40 . #xfb41) (#xfb43 . #xfb44) (#xfb46 . #xfbc2) (#xfbd3 . #xfd8f) (#xfd92 .
    #xfdc7) #xfdcf (#xfdf0 . #xfdff) (#xfe10 . #xfe19) (#xfe30 . #xfe52) (#xfe54 . #xfe66)
    (#xfe68 . #xfe6b) (#xfe70 . #xfe74) (#xfe76 . #xfefc) (#xff01 . #xff9f) (#xffa1 . #xffbe)
    (#xffc2 . #xffc7) (#xffca . #xffcf) (#xffd2 . #xffd7) (#xffda . #xffdc) (#xffe0 . #xffe6)
    (#xffe8 . #xffee) #xfffd (#x10000 . #x1000b) (#x1000d . #x10026) (#x10028 . #x1003a)
    (#x1003c . #x1003d) (#x1003f . #x1004d) (#x10050 . #x1005d) (#x10080 . #x100fa) (#x10100 .
    #x10102) (#x10107 . #x10133) (#x10137 . #x1018e) (#x10190 . #x1019c) #x101a0 (#x101d0 .
    #x101fc) (#x10280 . #x1029c) (#x102a0 . #x102d0) (#x102e1 . #x102fb) (#x10300 . #x10323)
    (#x1032d . #x1034a) (#x10350 . #x10375) (#x10380 . #x1039d) (#x1039f . #x103c3) (#x103c8 .
    #x103d5) (#x10400 . #x1049d) (#x104a0 . #x104a9) (#x104b0 . #x104d3) (#x104d8 . #x104fb)
    (#x10500 . #x10527) (#x10530 . #x10563) (#x1056f . #x1057a) (#x1057c . #x1058a) (#x1058c .
    #x10592) (#x10594 . #x10595) (#x10597 . #x105a1) (#x105a3 . #x105b1) (#x105b3 . #x105b9)
    (#x105bb . #x105bc) (#x10600 . #x10736) (#x10740 . #x10755) (#x10760 . #x10767) (#x10780 .
    #x10785) (#x10787 . #x107b0) (#x107b2 . #x107ba) (#x10800 . #x10805) #x10808 (#x1080a .
    #x10835) (#x10837 . #x10838) #x1083c (#x1083f . #x10855) (#x10857 . #x1089e) (#x108a7 .
    #x108af) (#x108e0 . #x108f2) (#x108f4 . #x108f5) (#x108fb . #x1091b) (#x1091f . #x10939)
    #x1093f (#x10980 . #x109b7) (#x109bc . #x109cf) (#x109d2 . #x10a00) (#x10a10 . #x10a13)
    (#x10a15 . #x10a17) (#x10a19 . #x10a35) (#x10a40 . #x10a48) (#x10a50 . #x10a58) (#x10a60 .
    #x10a9f) (#x10ac0 . #x10ae4) (#x10aeb . #x10af6) (#x10b00 . #x10b35) (#x10b39 . #x10b55)
    (#x10b58 . #x10b72) (#x10b78 . #x10b91) (#x10b99 . #x10b9c) (#x10ba9 . #x10baf) (#x10c00 .
    #x10c48) (#x10c80 . #x10cb2) (#x10cc0 . #x10cf2) (#x10cfa . #x10d23) (#x10d30 . #x10d39)
    (#x10e60 . #x10e7e) (#x10e80 . #x10ea9) #x10ead (#x10eb0 . #x10eb1) (#x10f00 . #x10f27)
    (#x10f30 . #x10f45) (#x10f51 . #x10f59) (#x10f70 . #x10f81) (#x10f86 . #x10f89) (#x10fb0 .
    #x10fcb) (#x10fe0 . #x10ff6) (#x11003 . #x11037) (#x11047 . #x1104d) (#x11052 . #x1106f)
    (#x11071 . #x11072) #x11075 (#x11083 . #x110af) (#x110bb . #x110bc) (#x110be . #x110c1)
    (#x110d0 . #x110e8) (#x110f0 . #x110f9) (#x11103 . #x11126) (#x11136 . #x11144) #x11147
    (#x11150 . #x11172) (#x11174 . #x11176) (#x11183 . #x111b2) (#x111c1 . #x111c8) #x111cd
    (#x111d0 . #x111df) (#x111e1 . #x111f4) (#x11200 . #x11211) (#x11213 . #x1122b) (#x11238 .
    #x1123d) (#x11280 . #x11286) #x11288 (#x1128a . #x1128d) (#x1128f . #x1129d) (#x1129f .
    #x112a9) (#x112b0 . #x112de) (#x112f0 . #x112f9) (#x11305 . #x1130c) (#x1130f . #x11310)
    (#x11313 . #x11328) (#x1132a . #x11330) (#x11332 . #x11333) (#x11335 . #x11339) #x1133d
    #x11350 (#x1135d . #x11361) (#x11400 . #x11434) (#x11447 . #x1145b) #x1145d (#x1145f .
    #x11461) (#x11480 . #x114af) (#x114c4 . #x114c7) (#x114d0 . #x114d9) (#x11580 . #x115ae)
    (#x115c1 . #x115db) (#x11600 . #x1162f) (#x11641 . #x11644) (#x11650 . #x11659) (#x11660 .
    #x1166c) (#x11680 . #x116aa) (#x116b8 . #x116b9) (#x116c0 . #x116c9) (#x11700 . #x1171a)
    (#x11730 . #x11746) (#x11800 . #x1182b) #x1183b (#x118a0 . #x118f2) (#x118ff . #x11906)
    #x11909 (#x1190c . #x11913) (#x11915 . #x11916) (#x11918 . #x1192f) #x1193f #x11941
    (#x11944 . #x11946) (#x11950 . #x11959) (#x119a0 . #x119a7) (#x119aa . #x119d0) (#x119e1 .
    #x119e3) #x11a00 (#x11a0b . #x11a32) #x11a3a (#x11a3f . #x11a46) #x11a50 (#x11a5c .
    #x11a89) (#x11a9a . #x11aa2) (#x11ab0 . #x11af8) (#x11c00 . #x11c08) (#x11c0a . #x11c2e)
    (#x11c40 . #x11c45) (#x11c50 . #x11c6c) (#x11c70 . #x11c8f) (#x11d00 . #x11d06) (#x11d08 .
    #x11d09) (#x11d0b . #x11d30) #x11d46 (#x11d50 . #x11d59) (#x11d60 . #x11d65) (#x11d67 .
    #x11d68) (#x11d6a . #x11d89) #x11d98 (#x11da0 . #x11da9) (#x11ee0 . #x11ef2) (#x11ef7 .
    #x11ef8) #x11fb0 (#x11fc0 . #x11ff1) (#x11fff . #x12399) (#x12400 . #x1246e) (#x12470 .
    #x12474) (#x12480 . #x12543) (#x12f90 . #x12ff2) (#x13000 . #x1342e) (#x14400 . #x14646)
    (#x16800 . #x16a38) (#x16a40 . #x16a5e) (#x16a60 . #x16a69) (#x16a6e . #x16abe) (#x16ac0 .
    #x16ac9) (#x16ad0 . #x16aed) #x16af5 (#x16b00 . #x16b2f) (#x16b37 . #x16b45) (#x16b50 .
    #x16b59) (#x16b5b . #x16b61) (#x16b63 . #x16b77) (#x16b7d . #x16b8f) (#x16e40 . #x16e9a)
    (#x16f00 . #x16f4a) #x16f50 (#x16f93 . #x16f9f) (#x16fe0 . #x16fe3) (#x17000 . #x187f7)
    (#x18800 . #x18cd5) (#x18d00 . #x18d08) (#x1aff0 . #x1aff3) (#x1aff5 . #x1affb) (#x1affd .
    #x1affe) (#x1b000 . #x1b122) (#x1b150 . #x1b152) (#x1b164 . #x1b167) (#x1b170 . #x1b2fb)
    (#x1bc00 . #x1bc6a) (#x1bc70 . #x1bc7c) (#x1bc80 . #x1bc88) (#x1bc90 . #x1bc99) #x1bc9c
    #x1bc9f (#x1cf50 . #x1cfc3) (#x1d000 . #x1d0f5) (#x1d100 . #x1d126) (#x1d129 . #x1d158)
    (#x1d15a . #x1d164) (#x1d16a . #x1d16c) (#x1d183 . #x1d184) (#x1d18c . #x1d1a9) (#x1d1ae .
    #x1d1ea) (#x1d200 . #x1d241) #x1d245 (#x1d2e0 . #x1d2f3) (#x1d300 . #x1d356) (#x1d360 .
    #x1d378) (#x1d400 . #x1d454) (#x1d456 . #x1d49c) (#x1d49e . #x1d49f) #x1d4a2 (#x1d4a5 .
    #x1d4a6) (#x1d4a9 . #x1d4ac) (#x1d4ae . #x1d4b9) #x1d4bb (#x1d4bd . #x1d4c3) (#x1d4c5 .
    #x1d505) (#x1d507 . #x1d50a) (#x1d50d . #x1d514) (#x1d516 . #x1d51c) (#x1d51e . #x1d539)
    (#x1d53b . #x1d53e) (#x1d540 . #x1d544) #x1d546 (#x1d54a . #x1d550) (#x1d552 . #x1d6a5)
    (#x1d6a8 . #x1d7cb) (#x1d7ce . #x1d9ff) (#x1da37 . #x1da3a) (#x1da6d . #x1da74) (#x1da76 .
    #x1da83) (#x1da85 . #x1da8b) (#x1df00 . #x1df1e) (#x1e100 . #x1e12c) (#x1e137 . #x1e13d)
    (#x1e140 . #x1e149) (#x1e14e . #x1e14f) (#x1e290 . #x1e2ad) (#x1e2c0 . #x1e2eb) (#x1e2f0 .
    #x1e2f9) #x1e2ff (#x1e7e0 . #x1e7e6) (#x1e7e8 . #x1e7eb) (#x1e7ed . #x1e7ee) (#x1e7f0 .
    #x1e7fe) (#x1e800 . #x1e8c4) (#x1e8c7 . #x1e8cf) (#x1e900 . #x1e943) #x1e94b (#x1e950 .
    #x1e959) (#x1e95e . #x1e95f) (#x1ec71 . #x1ecb4) (#x1ed01 . #x1ed3d) (#x1ee00 . #x1ee03)
    (#x1ee05 . #x1ee1f) (#x1ee21 . #x1ee22) #x1ee24 #x1ee27 (#x1ee29 . #x1ee32) (#x1ee34 .
    #x1ee37) #x1ee39 #x1ee3b #x1ee42 #x1ee47 #x1ee49 #x1ee4b (#x1ee4d . #x1ee4f) (#x1ee51 .
    #x1ee52) #x1ee54 #x1ee57 #x1ee59 #x1ee5b #x1ee5d #x1ee5f (#x1ee61 . #x1ee62) #x1ee64
    (#x1ee67 . #x1ee6a) (#x1ee6c . #x1ee72) (#x1ee74 . #x1ee77) (#x1ee79 . #x1ee7c) #x1ee7e
    (#x1ee80 . #x1ee89) (#x1ee8b . #x1ee9b) (#x1eea1 . #x1eea3) (#x1eea5 . #x1eea9) (#x1eeab .
    #x1eebb) (#x1eef0 . #x1eef1) (#x1f000 . #x1f02b) (#x1f030 . #x1f093) (#x1f0a0 . #x1f0ae)
    (#x1f0b1 . #x1f0bf) (#x1f0c1 . #x1f0cf) (#x1f0d1 . #x1f0f5) (#x1f100 . #x1f1ad) (#x1f1e6 .
    #x1f202) (#x1f210 . #x1f23b) (#x1f240 . #x1f248) (#x1f250 . #x1f251) (#x1f260 . #x1f265)
    (#x1f300 . #x1f6d7) (#x1f6dd . #x1f6ec) (#x1f6f0 . #x1f6fc) (#x1f700 . #x1f773) (#x1f780 .
    #x1f7d8) (#x1f7e0 . #x1f7eb) #x1f7f0 (#x1f800 . #x1f80b) (#x1f810 . #x1f847) (#x1f850 .
    #x1f859) (#x1f860 . #x1f887) (#x1f890 . #x1f8ad) (#x1f8b0 . #x1f8b1) (#x1f900 . #x1fa53)
    (#x1fa60 . #x1fa6d) (#x1fa70 . #x1fa74) (#x1fa78 . #x1fa7c) (#x1fa80 . #x1fa86) (#x1fa90 .
    #x1faac) (#x1fab0 . #x1faba) (#x1fac0 . #x1fac5) (#x1fad0 . #x1fad9) (#x1fae0 . #x1fae7)
    (#x1faf0 . #x1faf6) (#x1fb00 . #x1fb92) (#x1fb94 . #x1fbca) (#x1fbf0 . #x1fbf9) (#x20000 .
    #x2a6df) (#x2a700 . #x2b738) (#x2b740 . #x2b81d) (#x2b820 . #x2cea1) (#x2ceb0 . #x2ebe0)
    (#x2f800 . #x2fa1d) (#x30000 . #x3134a))
  "Characters that are drawn with a width of their own.")

(defconst hive-text-marks
  '((#x300 . #x34e) (#x350 . #x36f) (#x483 . #x489) (#x591 . #x5bd) #x5bf (#x5c1 . #x5c2)
    (#x5c4 . #x5c5) #x5c7 (#x610 . #x61a) (#x64b . #x65f) #x670 (#x6d6 . #x6dc) (#x6df .
    #x6e4) (#x6e7 . #x6e8) (#x6ea . #x6ed) #x711 (#x730 . #x74a) (#x7a6 . #x7b0) (#x7eb .
    #x7f3) #x7fd (#x816 . #x819) (#x81b . #x823) (#x825 . #x827) (#x829 . #x82d) (#x859 .
    #x85b) (#x898 . #x89f) (#x8ca . #x8e1) (#x8e3 . #x903) (#x93a . #x93c) (#x93e . #x94f)
    (#x951 . #x957) (#x962 . #x963) (#x981 . #x983) #x9bc (#x9be . #x9c4) (#x9c7 . #x9c8)
    (#x9cb . #x9cd) #x9d7 (#x9e2 . #x9e3) #x9fe (#xa01 . #xa03) #xa3c (#xa3e . #xa42) (#xa47 .
    #xa48) (#xa4b . #xa4d) #xa51 (#xa70 . #xa71) #xa75 (#xa81 . #xa83) #xabc (#xabe . #xac5)
    (#xac7 . #xac9) (#xacb . #xacd) (#xae2 . #xae3) (#xafa . #xaff) (#xb01 . #xb03) #xb3c
    (#xb3e . #xb44) (#xb47 . #xb48) (#xb4b . #xb4d) (#xb55 . #xb57) (#xb62 . #xb63) #xb82
    (#xbbe . #xbc2) (#xbc6 . #xbc8) (#xbca . #xbcd) #xbd7 (#xc00 . #xc04) #xc3c (#xc3e .
    #xc44) (#xc46 . #xc48) (#xc4a . #xc4d) (#xc55 . #xc56) (#xc62 . #xc63) (#xc81 . #xc83)
    #xcbc (#xcbe . #xcc4) (#xcc6 . #xcc8) (#xcca . #xccd) (#xcd5 . #xcd6) (#xce2 . #xce3)
    (#xd00 . #xd03) (#xd3b . #xd3c) (#xd3e . #xd44) (#xd46 . #xd48) (#xd4a . #xd4d) #xd57
    (#xd62 . #xd63) (#xd81 . #xd83) #xdca (#xdcf . #xdd4) #xdd6 (#xdd8 . #xddf) (#xdf2 .
    #xdf3) #xe31 (#xe34 . #xe3a) (#xe47 . #xe4e) #xeb1 (#xeb4 . #xebc) (#xec8 . #xecd) (#xf3e
    . #xf3f) (#xf71 . #xf84) (#xf86 . #xf87) (#xf90 . #xf97) (#xf99 . #xfbc) (#x102b . #x103e)
    (#x1056 . #x1059) (#x105e . #x1060) (#x1062 . #x1064) (#x1067 . #x106d) (#x1071 . #x1074)
    (#x1082 . #x108d) #x108f (#x109a . #x109d) (#x135d . #x135e) (#x1712 . #x1715) (#x1732 .
    #x1734) (#x1752 . #x1753) (#x1772 . #x1773) (#x17b6 . #x17d3) #x17dd (#x1885 . #x1886)
    #x18a9 (#x1920 . #x192b) (#x1930 . #x193b) (#x1a17 . #x1a1b) (#x1a55 . #x1a5e) (#x1a60 .
    #x1a7c) #x1a7f (#x1ab0 . #x1ace) (#x1b80 . #x1b82) (#x1ba1 . #x1bad) (#x1be6 . #x1bf3)
    (#x1c24 . #x1c37) (#x1cd0 . #x1cd2) (#x1cd4 . #x1ce8) #x1ced #x1cf4 (#x1cf7 . #x1cf9)
    (#x1dc0 . #x1dff) (#x20d0 . #x20f0) (#x2cef . #x2cf1) #x2d7f (#x2de0 . #x2dff) (#x302a .
    #x302f) (#x3099 . #x309a) (#xa66f . #xa672) (#xa674 . #xa67d) (#xa69e . #xa69f) (#xa6f0 .
    #xa6f1) (#xa880 . #xa881) (#xa8b4 . #xa8c5) #xa8ff (#xa926 . #xa92d) (#xa980 . #xa983)
    (#xa9b3 . #xa9c0) #xa9e5 (#xaa29 . #xaa36) #xaa43 (#xaa4c . #xaa4d) (#xaa7b . #xaa7d)
    #xaab0 (#xaab2 . #xaab4) (#xaab7 . #xaab8) (#xaabe . #xaabf) #xaac1 (#xaaeb . #xaaef)
    (#xaaf5 . #xaaf6) (#xabe3 . #xabea) (#xabec . #xabed) #xfb1e (#xfe20 . #xfe2f) #x101fd
    #x102e0 (#x10376 . #x1037a) (#x10a01 . #x10a03) (#x10a05 . #x10a06) (#x10a0c . #x10a0f)
    (#x10a38 . #x10a3a) #x10a3f (#x10ae5 . #x10ae6) (#x10d24 . #x10d27) (#x10eab . #x10eac)
    (#x10f46 . #x10f50) (#x10f82 . #x10f85) (#x11080 . #x11082) (#x110b0 . #x110ba) #x110c2
    (#x11100 . #x11102) (#x11127 . #x11134) (#x11145 . #x11146) #x11173 (#x1122c . #x11237)
    #x1123e (#x112df . #x112ea) (#x11300 . #x11303) (#x1133b . #x1133c) (#x1133e . #x11344)
    (#x11347 . #x11348) (#x1134b . #x1134d) #x11357 (#x11362 . #x11363) (#x11366 . #x1136c)
    (#x11370 . #x11374) (#x11435 . #x11446) #x1145e (#x115af . #x115b5) (#x115b8 . #x115c0)
    (#x115dc . #x115dd) (#x116ab . #x116b7) (#x1171d . #x1172b) (#x1182c . #x1183a) (#x11930 .
    #x11935) (#x11937 . #x11938) (#x1193b . #x1193e) #x11940 (#x11942 . #x11943) (#x119d1 .
    #x119d7) (#x119da . #x119e0) #x119e4 (#x11a01 . #x11a0a) (#x11a33 . #x11a39) (#x11a3b .
    #x11a3e) #x11a47 (#x11a51 . #x11a5b) (#x11a8a . #x11a99) (#x11c2f . #x11c36) (#x11c38 .
    #x11c3f) (#x11c92 . #x11ca7) (#x11ca9 . #x11cb6) (#x11d31 . #x11d36) #x11d3a (#x11d3c .
    #x11d3d) (#x11d3f . #x11d45) #x11d47 (#x11d8a . #x11d8e) (#x11d90 . #x11d91) (#x11d93 .
    #x11d97) (#x11ef3 . #x11ef6) (#x16af0 . #x16af4) (#x16b30 . #x16b36) #x16f4f (#x16f51 .
    #x16f87) (#x16f8f . #x16f92) #x16fe4 (#x16ff0 . #x16ff1) (#x1bc9d . #x1bc9e) (#x1cf00 .
    #x1cf2d) (#x1cf30 . #x1cf46) (#x1d165 . #x1d169) (#x1d16d . #x1d172) (#x1d17b . #x1d182)
    (#x1d185 . #x1d18b) (#x1d1aa . #x1d1ad) (#x1d242 . #x1d244) (#x1da00 . #x1da36) (#x1da3b .
    #x1da6c) #x1da75 #x1da84 (#x1da9b . #x1da9f) (#x1daa1 . #x1daaf) (#x1e000 . #x1e006)
    (#x1e008 . #x1e018) (#x1e01b . #x1e021) (#x1e023 . #x1e024) (#x1e026 . #x1e02a) (#x1e130 .
    #x1e136) #x1e2ae (#x1e2ec . #x1e2ef) (#x1e8d0 . #x1e8d6) (#x1e944 . #x1e94a))
  "Characters that are drawn on the one before them.")

(defconst hive-text-carriers
  (list '((#x1e900 . #x1e94a))
   '((#x11700 . #x1171a) (#x1171d . #x1172b) (#x11740 . #x11746))
   '((#x610 . #x61a) (#x620 . #x63f) (#x641 . #x64a) (#x656 . #x65f) (#x66e . #x66f) (#x671 .
    #x6d3) (#x6d5 . #x6dc) (#x6df . #x6e4) (#x6e7 . #x6e8) (#x6ea . #x6ef) (#x6fa . #x6fc)
    #x6ff (#x750 . #x77f) (#x870 . #x887) (#x889 . #x88e) (#x898 . #x8c8) (#x8ca . #x8e1)
    (#x8e3 . #x8ff) (#xfb50 . #xfbb1) (#xfbd3 . #xfd3d) (#xfd50 . #xfd8f) (#xfd92 . #xfdc7)
    (#xfdf0 . #xfdfb) (#xfe70 . #xfe74) (#xfe76 . #xfefc) (#x1ee00 . #x1ee03) (#x1ee05 .
    #x1ee1f) (#x1ee21 . #x1ee22) #x1ee24 #x1ee27 (#x1ee29 . #x1ee32) (#x1ee34 . #x1ee37)
    #x1ee39 #x1ee3b #x1ee42 #x1ee47 #x1ee49 #x1ee4b (#x1ee4d . #x1ee4f) (#x1ee51 . #x1ee52)
    #x1ee54 #x1ee57 #x1ee59 #x1ee5b #x1ee5d #x1ee5f (#x1ee61 . #x1ee62) #x1ee64 (#x1ee67 .
    #x1ee6a) (#x1ee6c . #x1ee72) (#x1ee74 . #x1ee77) (#x1ee79 . #x1ee7c) #x1ee7e (#x1ee80 .
    #x1ee89) (#x1ee8b . #x1ee9b) (#x1eea1 . #x1eea3) (#x1eea5 . #x1eea9) (#x1eeab . #x1eebb))
   '((#xa6a0 . #xa6e5) (#xa6f0 . #xa6f1) (#x16800 . #x16a38))
   '((#x16ad0 . #x16aed) (#x16af0 . #x16af4))
   '((#x1bc0 . #x1bf3))
   '((#x980 . #x983) (#x985 . #x98c) (#x98f . #x990) (#x993 . #x9a8) (#x9aa . #x9b0) #x9b2
    (#x9b6 . #x9b9) (#x9bc . #x9c4) (#x9c7 . #x9c8) (#x9cb . #x9ce) #x9d7 (#x9dc . #x9dd)
    (#x9df . #x9e3) (#x9f0 . #x9f1) #x9fc #x9fe)
   '((#x11c00 . #x11c08) (#x11c0a . #x11c36) (#x11c38 . #x11c40))
   '((#x1a00 . #x1a1b))
   '((#x1740 . #x1753))
   '((#x11100 . #x11134) (#x11144 . #x11147))
   '((#xaa00 . #xaa36) (#xaa40 . #xaa4d))
   '((#x3e2 . #x3ef) (#x2c80 . #x2ce4) (#x2ceb . #x2cf3))
   '((#x400 . #x481) (#x483 . #x484) (#x487 . #x52f) (#x1c80 . #x1c88) #x1d2b (#x2de0 . #x2dff)
    (#xa640 . #xa672) (#xa674 . #xa67d) (#xa69e . #xa69f) (#xfe2e . #xfe2f))
   '((#x900 . #x950) (#x955 . #x963) (#x972 . #x97f) (#xa8f2 . #xa8f7) #xa8fb (#xa8fd . #xa8ff))
   '((#x11900 . #x11906) #x11909 (#x1190c . #x11913) (#x11915 . #x11916) (#x11918 . #x11935)
    (#x11937 . #x11938) (#x1193b . #x11943))
   '((#x11800 . #x1183a))
   '((#x1bc00 . #x1bc6a) (#x1bc70 . #x1bc7c) (#x1bc80 . #x1bc88) (#x1bc90 . #x1bc99) (#x1bc9d .
    #x1bc9e))
   '((#x1200 . #x1248) (#x124a . #x124d) (#x1250 . #x1256) #x1258 (#x125a . #x125d) (#x1260 .
    #x1288) (#x128a . #x128d) (#x1290 . #x12b0) (#x12b2 . #x12b5) (#x12b8 . #x12be) #x12c0
    (#x12c2 . #x12c5) (#x12c8 . #x12d6) (#x12d8 . #x1310) (#x1312 . #x1315) (#x1318 . #x135a)
    (#x135d . #x135e) (#x1380 . #x138f) (#x2d80 . #x2d96) (#x2da0 . #x2da6) (#x2da8 . #x2dae)
    (#x2db0 . #x2db6) (#x2db8 . #x2dbe) (#x2dc0 . #x2dc6) (#x2dc8 . #x2dce) (#x2dd0 . #x2dd6)
    (#x2dd8 . #x2dde) (#xab01 . #xab06) (#xab09 . #xab0e) (#xab11 . #xab16) (#xab20 . #xab26)
    (#xab28 . #xab2e) (#x1e7e0 . #x1e7e6) (#x1e7e8 . #x1e7eb) (#x1e7ed . #x1e7ee) (#x1e7f0 .
    #x1e7fe))
   '((#x2c00 . #x2c5f) (#x1e000 . #x1e006) (#x1e008 . #x1e018) (#x1e01b . #x1e021) (#x1e023 .
    #x1e024) (#x1e026 . #x1e02a))
   '((#x11300 . #x11303) (#x11305 . #x1130c) (#x1130f . #x11310) (#x11313 . #x11328) (#x1132a .
    #x11330) (#x11332 . #x11333) (#x11335 . #x11339) (#x1133c . #x11344) (#x11347 . #x11348)
    (#x1134b . #x1134d) #x11350 #x11357 (#x1135d . #x11363) (#x11366 . #x1136c) (#x11370 .
    #x11374))
   '((#x370 . #x373) (#x376 . #x377) (#x37b . #x37d) #x37f #x386 (#x388 . #x38a) #x38c (#x38e .
    #x3a1) (#x3a3 . #x3e1) (#x3f0 . #x3f5) (#x3f7 . #x3ff) (#x1d26 . #x1d2a) (#x1f00 . #x1f15)
    (#x1f18 . #x1f1d) (#x1f20 . #x1f45) (#x1f48 . #x1f4d) (#x1f50 . #x1f57) #x1f59 #x1f5b
    #x1f5d (#x1f5f . #x1f7d) (#x1f80 . #x1fb4) (#x1fb6 . #x1fbc) #x1fbe (#x1fc2 . #x1fc4)
    (#x1fc6 . #x1fcc) (#x1fd0 . #x1fd3) (#x1fd6 . #x1fdb) (#x1fe0 . #x1fec) (#x1ff2 . #x1ff4)
    (#x1ff6 . #x1ffc) #x2126 #xab65 (#x1d242 . #x1d244))
   '((#xa81 . #xa83) (#xa85 . #xa8d) (#xa8f . #xa91) (#xa93 . #xaa8) (#xaaa . #xab0) (#xab2 .
    #xab3) (#xab5 . #xab9) (#xabc . #xac5) (#xac7 . #xac9) (#xacb . #xacd) #xad0 (#xae0 .
    #xae3) (#xaf9 . #xaff))
   '((#x11d60 . #x11d65) (#x11d67 . #x11d68) (#x11d6a . #x11d8e) (#x11d90 . #x11d91) (#x11d93 .
    #x11d98))
   '((#xa01 . #xa03) (#xa05 . #xa0a) (#xa0f . #xa10) (#xa13 . #xa28) (#xa2a . #xa30) (#xa32 .
    #xa33) (#xa35 . #xa36) (#xa38 . #xa39) #xa3c (#xa3e . #xa42) (#xa47 . #xa48) (#xa4b .
    #xa4d) #xa51 (#xa59 . #xa5c) #xa5e (#xa70 . #xa75))
   '((#x3400 . #x4dbf) (#x4e00 . #x9fff) (#xf900 . #xfa6d) (#xfa70 . #xfad9) (#x16ff0 .
    #x16ff1) (#x20000 . #x2a6df) (#x2a700 . #x2b738) (#x2b740 . #x2b81d) (#x2b820 . #x2cea1)
    (#x2ceb0 . #x2ebe0) (#x2f800 . #x2fa1d) (#x30000 . #x3134a))
   '((#x1100 . #x115e) (#x302e . #x302f) (#x3131 . #x3163) (#x3165 . #x318e) (#xa960 . #xa97c)
    (#xac00 . #xd7a3) (#xffa1 . #xffbe) (#xffc2 . #xffc7) (#xffca . #xffcf) (#xffd2 . #xffd7)
    (#xffda . #xffdc))
   '((#x10d00 . #x10d27))
   '((#x1720 . #x1734))
   '((#x591 . #x5bd) #x5bf (#x5c1 . #x5c2) (#x5c4 . #x5c5) #x5c7 (#x5d0 . #x5ea) (#x5ef .
    #x5f2) (#xfb1d . #xfb28) (#xfb2a . #xfb36) (#xfb38 . #xfb3c) #xfb3e (#xfb40 . #xfb41)
    (#xfb43 . #xfb44) (#xfb46 . #xfb4f))
   '((#xa980 . #xa983) (#xa9b3 . #xa9c0))
   '((#x11080 . #x110ba) #x110c2)
   '((#xc80 . #xc83) (#xc85 . #xc8c) (#xc8e . #xc90) (#xc92 . #xca8) (#xcaa . #xcb3) (#xcb5 .
    #xcb9) (#xcbc . #xcc4) (#xcc6 . #xcc8) (#xcca . #xccd) (#xcd5 . #xcd6) (#xcdd . #xcde)
    (#xce0 . #xce3) (#xcf1 . #xcf2))
   '((#xa90a . #xa92d))
   '((#x10a00 . #x10a03) (#x10a05 . #x10a06) (#x10a0c . #x10a13) (#x10a15 . #x10a17) (#x10a19 .
    #x10a35) (#x10a38 . #x10a3a) #x10a3f)
   '(#x16fe4 (#x18b00 . #x18cd5))
   '((#x1780 . #x17b3) (#x17b6 . #x17d3) (#x17dc . #x17dd))
   '((#x11200 . #x11211) (#x11213 . #x11237) #x1123e)
   '((#x112b0 . #x112ea))
   '((#xe81 . #xe82) #xe84 (#xe86 . #xe8a) (#xe8c . #xea3) #xea5 (#xea7 . #xebd) (#xec0 .
    #xec4) (#xec8 . #xecd) (#xedc . #xedf))
   '((#x1c00 . #x1c37) (#x1c4d . #x1c4f))
   '((#x1900 . #x191e) (#x1920 . #x192b) (#x1930 . #x193b))
   '((#x11150 . #x11173) #x11176)
   '((#x11ee0 . #x11ef6))
   '((#xd00 . #xd0c) (#xd0e . #xd10) (#xd12 . #xd44) (#xd46 . #xd48) (#xd4a . #xd4e) (#xd54 .
    #xd57) (#xd5f . #xd63) (#xd7a . #xd7f))
   '((#x840 . #x85b))
   '((#x10ac0 . #x10ac7) (#x10ac9 . #x10ae6))
   '((#x11c72 . #x11c8f) (#x11c92 . #x11ca7) (#x11ca9 . #x11cb6))
   '((#x11d00 . #x11d06) (#x11d08 . #x11d09) (#x11d0b . #x11d36) #x11d3a (#x11d3c . #x11d3d)
    (#x11d3f . #x11d47))
   '((#xaae0 . #xaaef) #xaaf2 (#xaaf5 . #xaaf6) (#xabc0 . #xabea) (#xabec . #xabed))
   '((#x1e800 . #x1e8c4) (#x1e8d0 . #x1e8d6))
   '((#x16f00 . #x16f4a) (#x16f4f . #x16f87) (#x16f8f . #x16f92))
   '((#x1820 . #x1842) (#x1844 . #x1878) (#x1880 . #x18aa))
   '((#x1000 . #x103f) (#x1050 . #x108f) (#x109a . #x109d) (#xa9e0 . #xa9e5) (#xa9e7 . #xa9ef)
    (#xa9fa . #xa9fe) (#xaa60 . #xaa6f) (#xaa71 . #xaa76) (#xaa7a . #xaa7f))
   '((#x119a0 . #x119a7) (#x119aa . #x119d7) (#x119da . #x119e1) (#x119e3 . #x119e4))
   '((#x11400 . #x1144a) (#x1145e . #x11461))
   '((#x7ca . #x7f3) #x7fd)
   '((#x1e100 . #x1e12c) (#x1e130 . #x1e136) #x1e14e)
   '((#x10350 . #x1037a))
   '((#x10f70 . #x10f85))
   '((#xb01 . #xb03) (#xb05 . #xb0c) (#xb0f . #xb10) (#xb13 . #xb28) (#xb2a . #xb30) (#xb32 .
    #xb33) (#xb35 . #xb39) (#xb3c . #xb44) (#xb47 . #xb48) (#xb4b . #xb4d) (#xb55 . #xb57)
    (#xb5c . #xb5d) (#xb5f . #xb63) #xb71)
   '((#x16b00 . #x16b36) (#x16b63 . #x16b77) (#x16b7d . #x16b8f))
   '((#x800 . #x819) (#x81b . #x823) (#x825 . #x827) (#x829 . #x82d))
   '((#xa880 . #xa8c5))
   '((#x11580 . #x115b5) (#x115b8 . #x115c0) (#x115d8 . #x115dd))
   '((#x1da00 . #x1da36) (#x1da3b . #x1da6c) #x1da75 #x1da84 (#x1da9b . #x1da9f) (#x1daa1 .
    #x1daaf))
   '((#xd81 . #xd83) (#xd85 . #xd96) (#xd9a . #xdb1) (#xdb3 . #xdbb) #xdbd (#xdc0 . #xdc6)
    #xdca (#xdcf . #xdd4) #xdd6 (#xdd8 . #xddf) (#xdf2 . #xdf3))
   '((#x10f30 . #x10f50))
   '((#x11a50 . #x11a99) #x11a9d)
   '((#x1b80 . #x1baf) (#x1bba . #x1bbf))
   '((#x710 . #x74a) (#x74d . #x74f) (#x860 . #x86a))
   '((#x1700 . #x1715) #x171f)
   '((#x1760 . #x176c) (#x176e . #x1770) (#x1772 . #x1773))
   '((#x1a20 . #x1a5e) (#x1a60 . #x1a7c) #x1a7f)
   '((#xaa80 . #xaac2) (#xaadb . #xaadc))
   '((#x11680 . #x116b8))
   '((#xb82 . #xb83) (#xb85 . #xb8a) (#xb8e . #xb90) (#xb92 . #xb95) (#xb99 . #xb9a) #xb9c
    (#xb9e . #xb9f) (#xba3 . #xba4) (#xba8 . #xbaa) (#xbae . #xbb9) (#xbbe . #xbc2) (#xbc6 .
    #xbc8) (#xbca . #xbcd) #xbd0 #xbd7)
   '((#xc00 . #xc0c) (#xc0e . #xc10) (#xc12 . #xc28) (#xc2a . #xc39) (#xc3c . #xc44) (#xc46 .
    #xc48) (#xc4a . #xc4d) (#xc55 . #xc56) (#xc58 . #xc5a) #xc5d (#xc60 . #xc63))
   '((#x780 . #x7b1))
   '((#xe01 . #xe3a) (#xe40 . #xe45) (#xe47 . #xe4e))
   '((#xf3e . #xf47) (#xf49 . #xf6c) (#xf71 . #xf84) (#xf86 . #xf87) (#xf90 . #xf97) (#xf99 .
    #xfbc))
   '((#x2d30 . #x2d67) #x2d7f)
   '((#x1e290 . #x1e2ae))
   '((#x1e2c0 . #x1e2ef))
   '((#x10e80 . #x10ea9) (#x10eab . #x10eac) (#x10eb0 . #x10eb1))
   '((#x11a00 . #x11a3e) #x11a47))
  "The characters and the marks of each script that has marks of its own.
These are drawn only on characters of their script.")

(defconst hive-text-blanks
  '(#xa0 #x3000)
  "Blanks other than the space that people write.")

(defconst hive-text-scripts
  (list '((#x41 . #x5a) (#x61 . #x7a) #xaa #xba (#xc0 . #xd6) (#xd8 . #xf6) (#xf8 . #x2b8) (#x2e0 .
    #x2e4) (#x1d00 . #x1d25) (#x1d2c . #x1d5c) (#x1d62 . #x1d65) (#x1d6b . #x1d77) (#x1d79 .
    #x1dbe) (#x1e00 . #x1eff) #x2071 #x207f (#x2090 . #x209c) (#x212a . #x212b) #x2132 #x214e
    (#x2183 . #x2184) (#x2c60 . #x2c7f) (#xa722 . #xa787) (#xa78b . #xa7ca) (#xa7d0 . #xa7d1)
    #xa7d3 (#xa7d5 . #xa7d9) (#xa7f2 . #xa7ff) (#xab30 . #xab5a) (#xab5c . #xab64) (#xab66 .
    #xab69) (#xfb00 . #xfb06) (#xff21 . #xff3a) (#xff41 . #xff5a) (#x10780 . #x10785) (#x10787
    . #x107b0) (#x107b2 . #x107ba) (#x1df00 . #x1df1e))
   '((#x11700 . #x1171a) (#x11740 . #x11746))
   '((#x620 . #x63f) (#x641 . #x64a) (#x66e . #x66f) (#x671 . #x6d3) #x6d5 (#x6e5 . #x6e6)
    (#x6ee . #x6ef) (#x6fa . #x6fc) #x6ff (#x750 . #x77f) (#x870 . #x887) (#x889 . #x88e)
    (#x8a0 . #x8c9) (#xfb50 . #xfbb1) (#xfbd3 . #xfd3d) (#xfd50 . #xfd8f) (#xfd92 . #xfdc7)
    (#xfdf0 . #xfdfb) (#xfe70 . #xfe74) (#xfe76 . #xfefc) (#x1ee00 . #x1ee03) (#x1ee05 .
    #x1ee1f) (#x1ee21 . #x1ee22) #x1ee24 #x1ee27 (#x1ee29 . #x1ee32) (#x1ee34 . #x1ee37)
    #x1ee39 #x1ee3b #x1ee42 #x1ee47 #x1ee49 #x1ee4b (#x1ee4d . #x1ee4f) (#x1ee51 . #x1ee52)
    #x1ee54 #x1ee57 #x1ee59 #x1ee5b #x1ee5d #x1ee5f (#x1ee61 . #x1ee62) #x1ee64 (#x1ee67 .
    #x1ee6a) (#x1ee6c . #x1ee72) (#x1ee74 . #x1ee77) (#x1ee79 . #x1ee7c) #x1ee7e (#x1ee80 .
    #x1ee89) (#x1ee8b . #x1ee9b) (#x1eea1 . #x1eea3) (#x1eea5 . #x1eea9) (#x1eeab . #x1eebb))
   '((#x531 . #x556) #x559 (#x560 . #x588) (#xfb13 . #xfb17))
   '((#xa6a0 . #xa6e5) (#x16800 . #x16a38))
   '((#x1401 . #x166c) (#x166f . #x167f) (#x18b0 . #x18f5) (#x11ab0 . #x11abf))
   '((#x102a0 . #x102d0))
   '((#x13a0 . #x13f5) (#x13f8 . #x13fd) (#xab70 . #xabbf))
   '((#x3e2 . #x3ef) (#x2c80 . #x2ce4) (#x2ceb . #x2cee) (#x2cf2 . #x2cf3))
   '((#x400 . #x481) (#x48a . #x52f) (#x1c80 . #x1c88) #x1d2b #x1d78 (#xa640 . #xa66e))
   '((#x10400 . #x1044f))
   '((#x10500 . #x10527))
   '((#x1200 . #x1248) (#x124a . #x124d) (#x1250 . #x1256) #x1258 (#x125a . #x125d) (#x1260 .
    #x1288) (#x128a . #x128d) (#x1290 . #x12b0) (#x12b2 . #x12b5) (#x12b8 . #x12be) #x12c0
    (#x12c2 . #x12c5) (#x12c8 . #x12d6) (#x12d8 . #x1310) (#x1312 . #x1315) (#x1318 . #x135a)
    (#x1380 . #x138f) (#x2d80 . #x2d96) (#x2da0 . #x2da6) (#x2da8 . #x2dae) (#x2db0 . #x2db6)
    (#x2db8 . #x2dbe) (#x2dc0 . #x2dc6) (#x2dc8 . #x2dce) (#x2dd0 . #x2dd6) (#x2dd8 . #x2dde)
    (#xab01 . #xab06) (#xab09 . #xab0e) (#xab11 . #xab16) (#xab20 . #xab26) (#xab28 . #xab2e)
    (#x1e7e0 . #x1e7e6) (#x1e7e8 . #x1e7eb) (#x1e7ed . #x1e7ee) (#x1e7f0 . #x1e7fe))
   '((#x10a0 . #x10c5) #x10c7 #x10cd (#x10d0 . #x10fa) (#x10fc . #x10ff) (#x1c90 . #x1cba)
    (#x1cbd . #x1cbf) (#x2d00 . #x2d25) #x2d27 #x2d2d)
   '((#x370 . #x373) (#x376 . #x377) (#x37a . #x37d) #x37f #x386 (#x388 . #x38a) #x38c (#x38e .
    #x3a1) (#x3a3 . #x3e1) (#x3f0 . #x3f5) (#x3f7 . #x3ff) (#x1d26 . #x1d2a) (#x1d5d . #x1d61)
    (#x1d66 . #x1d6a) #x1dbf (#x1f00 . #x1f15) (#x1f18 . #x1f1d) (#x1f20 . #x1f45) (#x1f48 .
    #x1f4d) (#x1f50 . #x1f57) #x1f59 #x1f5b #x1f5d (#x1f5f . #x1f7d) (#x1f80 . #x1fb4) (#x1fb6
    . #x1fbc) #x1fbe (#x1fc2 . #x1fc4) (#x1fc6 . #x1fcc) (#x1fd0 . #x1fd3) (#x1fd6 . #x1fdb)
    (#x1fe0 . #x1fec) (#x1ff2 . #x1ff4) (#x1ff6 . #x1ffc) #x2126 #xab65)
   '((#x5d0 . #x5ea) (#x5ef . #x5f2) #xfb1d (#xfb1f . #xfb28) (#xfb2a . #xfb36) (#xfb38 .
    #xfb3c) #xfb3e (#xfb40 . #xfb41) (#xfb43 . #xfb44) (#xfb46 . #xfb4f))
   '((#xa4d0 . #xa4fd) #x11fb0)
   '((#x10280 . #x1029c))
   '((#xd04 . #xd0c) (#xd0e . #xd10) (#xd12 . #xd3a) #xd3d #xd4e (#xd54 . #xd56) (#xd5f .
    #xd61) (#xd7a . #xd7f))
   '((#x16f00 . #x16f4a) #x16f50 (#x16f93 . #x16f9f))
   '((#x7ca . #x7ea) (#x7f4 . #x7f5) #x7fa)
   '((#x10300 . #x1031f) (#x1032d . #x1032f))
   '((#xb05 . #xb0c) (#xb0f . #xb10) (#xb13 . #xb28) (#xb2a . #xb30) (#xb32 . #xb33) (#xb35 .
    #xb39) #xb3d (#xb5c . #xb5d) (#xb5f . #xb61) #xb71)
   '((#x104b0 . #x104d3) (#x104d8 . #x104fb))
   '((#x16a0 . #x16ea) (#x16f1 . #x16f8))
   '((#x2d30 . #x2d67) #x2d6f)
   '((#x11480 . #x114af) (#x114c4 . #x114c5) #x114c7)
   '((#x118a0 . #x118df) #x118ff))
  "The letters of each script that has letters like those of ASCII.
Latin comes first.")

(defconst hive-text-file-end "\n\f\n"
  "The end of a file with text from agents.
Emacs reads local variables only after the last page break, so after
this none of the text before it is taken for any.")

(defconst hive-format-introduction
  "Agents and their human share this buffer. A mention notifies those it names:
`@Claude-abc12` one session, `@reviewer` every session with that role,
`@All` every session of this project, `@Human` the human.
"
  "The introduction at the top of a shared buffer and of its file.
It is not part of any message.  The names are code, so they mention
nobody.")

(provide 'hive-names)
;;; hive-names.el ends here
