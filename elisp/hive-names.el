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

;;;; Characters

;; Ranges of characters as in src/domain/characters.ts: hexadecimal, with spaces
;; between them.

(defconst hive-text-visible
  "21-7e a1-ac ae-2ff 370-377 37a-37f 384-38a 38c 38e-3a1 3a3-482 48a-52f 531-556 559-58a 58d-58f
5be 5c0 5c3 5c6 5d0-5ea 5ef-5f4 606-60f 61d-64a 660-66f 671-6d5 6e5-6e6 6e9 6ee-70d 710 712-72f
74d-7a5 7b1 7c0-7ea 7f4-7fa 7fe-815 824 830-83e 840-858 85e 860-86a 870-88e 8a0-8c9 904-939 93d
950 958-961 964-980 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9bd 9ce 9dc-9dd 9df-9e1 9e6-9fd
a05-a0a a0f-a10 a13-a28 a2a-a30 a32-a33 a35-a36 a38-a39 a59-a5c a5e a66-a6f a72-a74 a76 a85-a8d
a8f-a91 a93-aa8 aaa-ab0 ab2-ab3 ab5-ab9 abd ad0 ae0-ae1 ae6-af1 af9 b05-b0c b0f-b10 b13-b28
b2a-b30 b32-b33 b35-b39 b3d b5c-b5d b5f-b61 b66-b77 b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c
b9e-b9f ba3-ba4 ba8-baa bae-bb9 bd0 be6-bfa c05-c0c c0e-c10 c12-c28 c2a-c39 c3d c58-c5a c5d
c60-c61 c66-c6f c77-c80 c84-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 cbd cdd-cde ce0-ce1 ce6-cef
cf1-cf2 d04-d0c d0e-d10 d12-d3a d3d d4e-d4f d54-d56 d58-d61 d66-d7f d85-d96 d9a-db1 db3-dbb dbd
dc0-dc6 de6-def df4 e01-e30 e32-e33 e3f-e46 e4f-e5b e81-e82 e84 e86-e8a e8c-ea3 ea5 ea7-eb0
eb2-eb3 ebd ec0-ec4 ec6 ed0-ed9 edc-edf f00-f17 f1a-f34 f36 f38 f3a-f3d f40-f47 f49-f6c f85
f88-f8c fbe-fc5 fc7-fcc fce-fda 1000-102a 103f-1055 105a-105d 1061 1065-1066 106e-1070 1075-1081
108e 1090-1099 109e-10c5 10c7 10cd 10d0-115e 1200-1248 124a-124d 1250-1256 1258 125a-125d
1260-1288 128a-128d 1290-12b0 12b2-12b5 12b8-12be 12c0 12c2-12c5 12c8-12d6 12d8-1310 1312-1315
1318-135a 1360-137c 1380-1399 13a0-13f5 13f8-13fd 1400-167f 1681-169c 16a0-16f8 1700-1711
171f-1731 1735-1736 1740-1751 1760-176c 176e-1770 1780-17b3 17d4-17dc 17e0-17e9 17f0-17f9
1800-180a 1810-1819 1820-1878 1880-1884 1887-18a8 18aa 18b0-18f5 1900-191e 1940 1944-196d
1970-1974 1980-19ab 19b0-19c9 19d0-19da 19de-1a16 1a1e-1a54 1a80-1a89 1a90-1a99 1aa0-1aad
1b05-1b33 1b45-1b4c 1b50-1b6a 1b74-1b7e 1b83-1ba0 1bae-1be5 1bfc-1c23 1c3b-1c49 1c4d-1c88
1c90-1cba 1cbd-1cc7 1cd3 1ce9-1cec 1cee-1cf3 1cf5-1cf6 1cfa 1d00-1dbf 1e00-1f15 1f18-1f1d
1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fc4 1fc6-1fd3 1fd6-1fdb
1fdd-1fef 1ff2-1ff4 1ff6-1ffe 2010-2027 2030-205e 2070-2071 2074-208e 2090-209c 20a0-20c0
2100-218b 2190-2426 2440-244a 2460-27ff 2801-2b73 2b76-2b95 2b97-2cee 2cf2-2cf3 2cf9-2d25 2d27
2d2d 2d30-2d67 2d6f-2d70 2d80-2d96 2da0-2da6 2da8-2dae 2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce
2dd0-2dd6 2dd8-2dde 2e00-2e5d 2e80-2e99 2e9b-2ef3 2f00-2fd5 2ff0-2ffb 3001-3029 3030-303f
3041-3096 309b-30ff 3105-312f 3131-3163 3165-318e 3190-31e3 31f0-321e 3220-a48c a490-a4c6
a4d0-a62b a640-a66e a673 a6a0-a6ef a6f2-a6f7 a700-a7ca a7d0-a7d1 a7d3 a7d5-a7d9 a7f2-a801
a803-a805 a807-a80a a80c-a822 a828-a82b a830-a839 a840-a877 a882-a8b3 a8ce-a8d9 a8f2-a8fe
a900-a925 a92e-a946 a95f-a97c a9c1-a9cd a9cf-a9d9 a9de-a9e4 a9e6-a9fe aa00-aa28 aa40-aa42
aa44-aa4b aa50-aa59 aa5c-aa7a aa7e-aaaf aab1 aab5-aab6 aab9-aabd aac0 aac2 aadb-aaea aaf0-aaf4
ab01-ab06 ab09-ab0e ab11-ab16 ab20-ab26 ab28-ab2e ab30-ab6b ab70-abe2 abeb abf0-abf9 ac00-d7a3
f900-fa6d fa70-fad9 fb00-fb06 fb13-fb17 fb1d fb1f-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44
fb46-fbc2 fbd3-fd8f fd92-fdc7 fdcf fdf0-fdff fe10-fe19 fe30-fe52 fe54-fe66 fe68-fe6b fe70-fe74
fe76-fefc ff01-ff9f ffa1-ffbe ffc2-ffc7 ffca-ffcf ffd2-ffd7 ffda-ffdc ffe0-ffe6 ffe8-ffee fffd
10000-1000b 1000d-10026 10028-1003a 1003c-1003d 1003f-1004d 10050-1005d 10080-100fa 10100-10102
10107-10133 10137-1018e 10190-1019c 101a0 101d0-101fc 10280-1029c 102a0-102d0 102e1-102fb
10300-10323 1032d-1034a 10350-10375 10380-1039d 1039f-103c3 103c8-103d5 10400-1049d 104a0-104a9
104b0-104d3 104d8-104fb 10500-10527 10530-10563 1056f-1057a 1057c-1058a 1058c-10592 10594-10595
10597-105a1 105a3-105b1 105b3-105b9 105bb-105bc 10600-10736 10740-10755 10760-10767 10780-10785
10787-107b0 107b2-107ba 10800-10805 10808 1080a-10835 10837-10838 1083c 1083f-10855 10857-1089e
108a7-108af 108e0-108f2 108f4-108f5 108fb-1091b 1091f-10939 1093f 10980-109b7 109bc-109cf
109d2-10a00 10a10-10a13 10a15-10a17 10a19-10a35 10a40-10a48 10a50-10a58 10a60-10a9f 10ac0-10ae4
10aeb-10af6 10b00-10b35 10b39-10b55 10b58-10b72 10b78-10b91 10b99-10b9c 10ba9-10baf 10c00-10c48
10c80-10cb2 10cc0-10cf2 10cfa-10d23 10d30-10d39 10e60-10e7e 10e80-10ea9 10ead 10eb0-10eb1
10f00-10f27 10f30-10f45 10f51-10f59 10f70-10f81 10f86-10f89 10fb0-10fcb 10fe0-10ff6 11003-11037
11047-1104d 11052-1106f 11071-11072 11075 11083-110af 110bb-110bc 110be-110c1 110d0-110e8
110f0-110f9 11103-11126 11136-11144 11147 11150-11172 11174-11176 11183-111b2 111c1-111c8 111cd
111d0-111df 111e1-111f4 11200-11211 11213-1122b 11238-1123d 11280-11286 11288 1128a-1128d
1128f-1129d 1129f-112a9 112b0-112de 112f0-112f9 11305-1130c 1130f-11310 11313-11328 1132a-11330
11332-11333 11335-11339 1133d 11350 1135d-11361 11400-11434 11447-1145b 1145d 1145f-11461
11480-114af 114c4-114c7 114d0-114d9 11580-115ae 115c1-115db 11600-1162f 11641-11644 11650-11659
11660-1166c 11680-116aa 116b8-116b9 116c0-116c9 11700-1171a 11730-11746 11800-1182b 1183b
118a0-118f2 118ff-11906 11909 1190c-11913 11915-11916 11918-1192f 1193f 11941 11944-11946
11950-11959 119a0-119a7 119aa-119d0 119e1-119e3 11a00 11a0b-11a32 11a3a 11a3f-11a46 11a50
11a5c-11a89 11a9a-11aa2 11ab0-11af8 11c00-11c08 11c0a-11c2e 11c40-11c45 11c50-11c6c 11c70-11c8f
11d00-11d06 11d08-11d09 11d0b-11d30 11d46 11d50-11d59 11d60-11d65 11d67-11d68 11d6a-11d89 11d98
11da0-11da9 11ee0-11ef2 11ef7-11ef8 11fb0 11fc0-11ff1 11fff-12399 12400-1246e 12470-12474
12480-12543 12f90-12ff2 13000-1342e 14400-14646 16800-16a38 16a40-16a5e 16a60-16a69 16a6e-16abe
16ac0-16ac9 16ad0-16aed 16af5 16b00-16b2f 16b37-16b45 16b50-16b59 16b5b-16b61 16b63-16b77
16b7d-16b8f 16e40-16e9a 16f00-16f4a 16f50 16f93-16f9f 16fe0-16fe3 17000-187f7 18800-18cd5
18d00-18d08 1aff0-1aff3 1aff5-1affb 1affd-1affe 1b000-1b122 1b150-1b152 1b164-1b167 1b170-1b2fb
1bc00-1bc6a 1bc70-1bc7c 1bc80-1bc88 1bc90-1bc99 1bc9c 1bc9f 1cf50-1cfc3 1d000-1d0f5 1d100-1d126
1d129-1d158 1d15a-1d164 1d16a-1d16c 1d183-1d184 1d18c-1d1a9 1d1ae-1d1ea 1d200-1d241 1d245
1d2e0-1d2f3 1d300-1d356 1d360-1d378 1d400-1d454 1d456-1d49c 1d49e-1d49f 1d4a2 1d4a5-1d4a6
1d4a9-1d4ac 1d4ae-1d4b9 1d4bb 1d4bd-1d4c3 1d4c5-1d505 1d507-1d50a 1d50d-1d514 1d516-1d51c
1d51e-1d539 1d53b-1d53e 1d540-1d544 1d546 1d54a-1d550 1d552-1d6a5 1d6a8-1d7cb 1d7ce-1d9ff
1da37-1da3a 1da6d-1da74 1da76-1da83 1da85-1da8b 1df00-1df1e 1e100-1e12c 1e137-1e13d 1e140-1e149
1e14e-1e14f 1e290-1e2ad 1e2c0-1e2eb 1e2f0-1e2f9 1e2ff 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee
1e7f0-1e7fe 1e800-1e8c4 1e8c7-1e8cf 1e900-1e943 1e94b 1e950-1e959 1e95e-1e95f 1ec71-1ecb4
1ed01-1ed3d 1ee00-1ee03 1ee05-1ee1f 1ee21-1ee22 1ee24 1ee27 1ee29-1ee32 1ee34-1ee37 1ee39 1ee3b
1ee42 1ee47 1ee49 1ee4b 1ee4d-1ee4f 1ee51-1ee52 1ee54 1ee57 1ee59 1ee5b 1ee5d 1ee5f 1ee61-1ee62
1ee64 1ee67-1ee6a 1ee6c-1ee72 1ee74-1ee77 1ee79-1ee7c 1ee7e 1ee80-1ee89 1ee8b-1ee9b 1eea1-1eea3
1eea5-1eea9 1eeab-1eebb 1eef0-1eef1 1f000-1f02b 1f030-1f093 1f0a0-1f0ae 1f0b1-1f0bf 1f0c1-1f0cf
1f0d1-1f0f5 1f100-1f1ad 1f1e6-1f202 1f210-1f23b 1f240-1f248 1f250-1f251 1f260-1f265 1f300-1f6d7
1f6dd-1f6ec 1f6f0-1f6fc 1f700-1f773 1f780-1f7d8 1f7e0-1f7eb 1f7f0 1f800-1f80b 1f810-1f847
1f850-1f859 1f860-1f887 1f890-1f8ad 1f8b0-1f8b1 1f900-1fa53 1fa60-1fa6d 1fa70-1fa74 1fa78-1fa7c
1fa80-1fa86 1fa90-1faac 1fab0-1faba 1fac0-1fac5 1fad0-1fad9 1fae0-1fae7 1faf0-1faf6 1fb00-1fb92
1fb94-1fbca 1fbf0-1fbf9 20000-2a6df 2a700-2b738 2b740-2b81d 2b820-2cea1 2ceb0-2ebe0 2f800-2fa1d
30000-3134a"
  "Characters that are drawn with a width of their own.")

(defconst hive-text-marks
  "300-34e 350-36f 483-489 591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 610-61a 64b-65f 670 6d6-6dc 6df-6e4
6e7-6e8 6ea-6ed 711 730-74a 7a6-7b0 7eb-7f3 7fd 816-819 81b-823 825-827 829-82d 859-85b 898-89f
8ca-8e1 8e3-903 93a-93c 93e-94f 951-957 962-963 981-983 9bc 9be-9c4 9c7-9c8 9cb-9cd 9d7 9e2-9e3
9fe a01-a03 a3c a3e-a42 a47-a48 a4b-a4d a51 a70-a71 a75 a81-a83 abc abe-ac5 ac7-ac9 acb-acd
ae2-ae3 afa-aff b01-b03 b3c b3e-b44 b47-b48 b4b-b4d b55-b57 b62-b63 b82 bbe-bc2 bc6-bc8 bca-bcd
bd7 c00-c04 c3c c3e-c44 c46-c48 c4a-c4d c55-c56 c62-c63 c81-c83 cbc cbe-cc4 cc6-cc8 cca-ccd
cd5-cd6 ce2-ce3 d00-d03 d3b-d3c d3e-d44 d46-d48 d4a-d4d d57 d62-d63 d81-d83 dca dcf-dd4 dd6
dd8-ddf df2-df3 e31 e34-e3a e47-e4e eb1 eb4-ebc ec8-ecd f3e-f3f f71-f84 f86-f87 f90-f97 f99-fbc
102b-103e 1056-1059 105e-1060 1062-1064 1067-106d 1071-1074 1082-108d 108f 109a-109d 135d-135e
1712-1715 1732-1734 1752-1753 1772-1773 17b6-17d3 17dd 1885-1886 18a9 1920-192b 1930-193b
1a17-1a1b 1a55-1a5e 1a60-1a7c 1a7f 1ab0-1ace 1b80-1b82 1ba1-1bad 1be6-1bf3 1c24-1c37 1cd0-1cd2
1cd4-1ce8 1ced 1cf4 1cf7-1cf9 1dc0-1dff 20d0-20f0 2cef-2cf1 2d7f 2de0-2dff 302a-302f 3099-309a
a66f-a672 a674-a67d a69e-a69f a6f0-a6f1 a880-a881 a8b4-a8c5 a8ff a926-a92d a980-a983 a9b3-a9c0
a9e5 aa29-aa36 aa43 aa4c-aa4d aa7b-aa7d aab0 aab2-aab4 aab7-aab8 aabe-aabf aac1 aaeb-aaef
aaf5-aaf6 abe3-abea abec-abed fb1e fe20-fe2f 101fd 102e0 10376-1037a 10a01-10a03 10a05-10a06
10a0c-10a0f 10a38-10a3a 10a3f 10ae5-10ae6 10d24-10d27 10eab-10eac 10f46-10f50 10f82-10f85
11080-11082 110b0-110ba 110c2 11100-11102 11127-11134 11145-11146 11173 1122c-11237 1123e
112df-112ea 11300-11303 1133b-1133c 1133e-11344 11347-11348 1134b-1134d 11357 11362-11363
11366-1136c 11370-11374 11435-11446 1145e 115af-115b5 115b8-115c0 115dc-115dd 116ab-116b7
1171d-1172b 1182c-1183a 11930-11935 11937-11938 1193b-1193e 11940 11942-11943 119d1-119d7
119da-119e0 119e4 11a01-11a0a 11a33-11a39 11a3b-11a3e 11a47 11a51-11a5b 11a8a-11a99 11c2f-11c36
11c38-11c3f 11c92-11ca7 11ca9-11cb6 11d31-11d36 11d3a 11d3c-11d3d 11d3f-11d45 11d47 11d8a-11d8e
11d90-11d91 11d93-11d97 11ef3-11ef6 16af0-16af4 16b30-16b36 16f4f 16f51-16f87 16f8f-16f92 16fe4
16ff0-16ff1 1bc9d-1bc9e 1cf00-1cf2d 1cf30-1cf46 1d165-1d169 1d16d-1d172 1d17b-1d182 1d185-1d18b
1d1aa-1d1ad 1d242-1d244 1da00-1da36 1da3b-1da6c 1da75 1da84 1da9b-1da9f 1daa1-1daaf 1e000-1e006
1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a 1e130-1e136 1e2ae 1e2ec-1e2ef 1e8d0-1e8d6
1e944-1e94a"
  "Characters that are drawn on the one before them.")

(defconst hive-text-carriers
  (list "1e900-1e94a"
        "11700-1171a 1171d-1172b 11740-11746"
        "610-61a 620-63f 641-64a 656-65f 66e-66f 671-6d3 6d5-6dc 6df-6e4 6e7-6e8 6ea-6ef 6fa-6fc 6ff
750-77f 870-887 889-88e 898-8c8 8ca-8e1 8e3-8ff fb50-fbb1 fbd3-fd3d fd50-fd8f fd92-fdc7
fdf0-fdfb fe70-fe74 fe76-fefc 1ee00-1ee03 1ee05-1ee1f 1ee21-1ee22 1ee24 1ee27 1ee29-1ee32
1ee34-1ee37 1ee39 1ee3b 1ee42 1ee47 1ee49 1ee4b 1ee4d-1ee4f 1ee51-1ee52 1ee54 1ee57 1ee59 1ee5b
1ee5d 1ee5f 1ee61-1ee62 1ee64 1ee67-1ee6a 1ee6c-1ee72 1ee74-1ee77 1ee79-1ee7c 1ee7e 1ee80-1ee89
1ee8b-1ee9b 1eea1-1eea3 1eea5-1eea9 1eeab-1eebb"
        "a6a0-a6e5 a6f0-a6f1 16800-16a38"
        "16ad0-16aed 16af0-16af4"
        "1bc0-1bf3"
        "980-983 985-98c 98f-990 993-9a8 9aa-9b0 9b2 9b6-9b9 9bc-9c4 9c7-9c8 9cb-9ce 9d7 9dc-9dd 9df-9e3
9f0-9f1 9fc 9fe"
        "11c00-11c08 11c0a-11c36 11c38-11c40"
        "1a00-1a1b"
        "1740-1753"
        "11100-11134 11144-11147"
        "aa00-aa36 aa40-aa4d"
        "3e2-3ef 2c80-2ce4 2ceb-2cf3"
        "400-481 483-484 487-52f 1c80-1c88 1d2b 2de0-2dff a640-a672 a674-a67d a69e-a69f fe2e-fe2f"
        "900-950 955-963 972-97f a8f2-a8f7 a8fb a8fd-a8ff"
        "11900-11906 11909 1190c-11913 11915-11916 11918-11935 11937-11938 1193b-11943"
        "11800-1183a"
        "1bc00-1bc6a 1bc70-1bc7c 1bc80-1bc88 1bc90-1bc99 1bc9d-1bc9e"
        "1200-1248 124a-124d 1250-1256 1258 125a-125d 1260-1288 128a-128d 1290-12b0 12b2-12b5 12b8-12be
12c0 12c2-12c5 12c8-12d6 12d8-1310 1312-1315 1318-135a 135d-135e 1380-138f 2d80-2d96 2da0-2da6
2da8-2dae 2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde ab01-ab06 ab09-ab0e
ab11-ab16 ab20-ab26 ab28-ab2e 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee 1e7f0-1e7fe"
        "2c00-2c5f 1e000-1e006 1e008-1e018 1e01b-1e021 1e023-1e024 1e026-1e02a"
        "11300-11303 11305-1130c 1130f-11310 11313-11328 1132a-11330 11332-11333 11335-11339 1133c-11344
11347-11348 1134b-1134d 11350 11357 1135d-11363 11366-1136c 11370-11374"
        "370-373 376-377 37b-37d 37f 386 388-38a 38c 38e-3a1 3a3-3e1 3f0-3f5 3f7-3ff 1d26-1d2a 1f00-1f15
1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d 1f80-1fb4 1fb6-1fbc 1fbe
1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc 2126 ab65 1d242-1d244"
        "a81-a83 a85-a8d a8f-a91 a93-aa8 aaa-ab0 ab2-ab3 ab5-ab9 abc-ac5 ac7-ac9 acb-acd ad0 ae0-ae3
af9-aff"
        "11d60-11d65 11d67-11d68 11d6a-11d8e 11d90-11d91 11d93-11d98"
        "a01-a03 a05-a0a a0f-a10 a13-a28 a2a-a30 a32-a33 a35-a36 a38-a39 a3c a3e-a42 a47-a48 a4b-a4d a51
a59-a5c a5e a70-a75"
        "3400-4dbf 4e00-9fff f900-fa6d fa70-fad9 16ff0-16ff1 20000-2a6df 2a700-2b738 2b740-2b81d
2b820-2cea1 2ceb0-2ebe0 2f800-2fa1d 30000-3134a"
        "1100-115e 302e-302f 3131-3163 3165-318e a960-a97c ac00-d7a3 ffa1-ffbe ffc2-ffc7 ffca-ffcf
ffd2-ffd7 ffda-ffdc"
        "10d00-10d27"
        "1720-1734"
        "591-5bd 5bf 5c1-5c2 5c4-5c5 5c7 5d0-5ea 5ef-5f2 fb1d-fb28 fb2a-fb36 fb38-fb3c fb3e fb40-fb41
fb43-fb44 fb46-fb4f"
        "a980-a983 a9b3-a9c0"
        "11080-110ba 110c2"
        "c80-c83 c85-c8c c8e-c90 c92-ca8 caa-cb3 cb5-cb9 cbc-cc4 cc6-cc8 cca-ccd cd5-cd6 cdd-cde ce0-ce3
cf1-cf2"
        "a90a-a92d"
        "10a00-10a03 10a05-10a06 10a0c-10a13 10a15-10a17 10a19-10a35 10a38-10a3a 10a3f"
        "16fe4 18b00-18cd5"
        "1780-17b3 17b6-17d3 17dc-17dd"
        "11200-11211 11213-11237 1123e"
        "112b0-112ea"
        "e81-e82 e84 e86-e8a e8c-ea3 ea5 ea7-ebd ec0-ec4 ec8-ecd edc-edf"
        "1c00-1c37 1c4d-1c4f"
        "1900-191e 1920-192b 1930-193b"
        "11150-11173 11176"
        "11ee0-11ef6"
        "d00-d0c d0e-d10 d12-d44 d46-d48 d4a-d4e d54-d57 d5f-d63 d7a-d7f"
        "840-85b"
        "10ac0-10ac7 10ac9-10ae6"
        "11c72-11c8f 11c92-11ca7 11ca9-11cb6"
        "11d00-11d06 11d08-11d09 11d0b-11d36 11d3a 11d3c-11d3d 11d3f-11d47"
        "aae0-aaef aaf2 aaf5-aaf6 abc0-abea abec-abed"
        "1e800-1e8c4 1e8d0-1e8d6"
        "16f00-16f4a 16f4f-16f87 16f8f-16f92"
        "1820-1842 1844-1878 1880-18aa"
        "1000-103f 1050-108f 109a-109d a9e0-a9e5 a9e7-a9ef a9fa-a9fe aa60-aa6f aa71-aa76 aa7a-aa7f"
        "119a0-119a7 119aa-119d7 119da-119e1 119e3-119e4"
        "11400-1144a 1145e-11461"
        "7ca-7f3 7fd"
        "1e100-1e12c 1e130-1e136 1e14e"
        "10350-1037a"
        "10f70-10f85"
        "b01-b03 b05-b0c b0f-b10 b13-b28 b2a-b30 b32-b33 b35-b39 b3c-b44 b47-b48 b4b-b4d b55-b57 b5c-b5d
b5f-b63 b71"
        "16b00-16b36 16b63-16b77 16b7d-16b8f"
        "800-819 81b-823 825-827 829-82d"
        "a880-a8c5"
        "11580-115b5 115b8-115c0 115d8-115dd"
        "1da00-1da36 1da3b-1da6c 1da75 1da84 1da9b-1da9f 1daa1-1daaf"
        "d81-d83 d85-d96 d9a-db1 db3-dbb dbd dc0-dc6 dca dcf-dd4 dd6 dd8-ddf df2-df3"
        "10f30-10f50"
        "11a50-11a99 11a9d"
        "1b80-1baf 1bba-1bbf"
        "710-74a 74d-74f 860-86a"
        "1700-1715 171f"
        "1760-176c 176e-1770 1772-1773"
        "1a20-1a5e 1a60-1a7c 1a7f"
        "aa80-aac2 aadb-aadc"
        "11680-116b8"
        "b82-b83 b85-b8a b8e-b90 b92-b95 b99-b9a b9c b9e-b9f ba3-ba4 ba8-baa bae-bb9 bbe-bc2 bc6-bc8
bca-bcd bd0 bd7"
        "c00-c0c c0e-c10 c12-c28 c2a-c39 c3c-c44 c46-c48 c4a-c4d c55-c56 c58-c5a c5d c60-c63"
        "780-7b1"
        "e01-e3a e40-e45 e47-e4e"
        "f3e-f47 f49-f6c f71-f84 f86-f87 f90-f97 f99-fbc"
        "2d30-2d67 2d7f"
        "1e290-1e2ae"
        "1e2c0-1e2ef"
        "10e80-10ea9 10eab-10eac 10eb0-10eb1"
        "11a00-11a3e 11a47")
  "The characters and the marks of each script that has marks of its own.
These are drawn only on characters of their script.")

(defconst hive-text-blanks
  "a0 3000"
  "Blanks other than the space that people write.")

(defconst hive-text-scripts
  (list "41-5a 61-7a aa ba c0-d6 d8-f6 f8-2b8 2e0-2e4 1d00-1d25 1d2c-1d5c 1d62-1d65 1d6b-1d77 1d79-1dbe
1e00-1eff 2071 207f 2090-209c 212a-212b 2132 214e 2183-2184 2c60-2c7f a722-a787 a78b-a7ca
a7d0-a7d1 a7d3 a7d5-a7d9 a7f2-a7ff ab30-ab5a ab5c-ab64 ab66-ab69 fb00-fb06 ff21-ff3a ff41-ff5a
10780-10785 10787-107b0 107b2-107ba 1df00-1df1e"
        "11700-1171a 11740-11746"
        "620-63f 641-64a 66e-66f 671-6d3 6d5 6e5-6e6 6ee-6ef 6fa-6fc 6ff 750-77f 870-887 889-88e 8a0-8c9
fb50-fbb1 fbd3-fd3d fd50-fd8f fd92-fdc7 fdf0-fdfb fe70-fe74 fe76-fefc 1ee00-1ee03 1ee05-1ee1f
1ee21-1ee22 1ee24 1ee27 1ee29-1ee32 1ee34-1ee37 1ee39 1ee3b 1ee42 1ee47 1ee49 1ee4b 1ee4d-1ee4f
1ee51-1ee52 1ee54 1ee57 1ee59 1ee5b 1ee5d 1ee5f 1ee61-1ee62 1ee64 1ee67-1ee6a 1ee6c-1ee72
1ee74-1ee77 1ee79-1ee7c 1ee7e 1ee80-1ee89 1ee8b-1ee9b 1eea1-1eea3 1eea5-1eea9 1eeab-1eebb"
        "531-556 559 560-588 fb13-fb17"
        "a6a0-a6e5 16800-16a38"
        "1401-166c 166f-167f 18b0-18f5 11ab0-11abf"
        "102a0-102d0"
        "13a0-13f5 13f8-13fd ab70-abbf"
        "3e2-3ef 2c80-2ce4 2ceb-2cee 2cf2-2cf3"
        "400-481 48a-52f 1c80-1c88 1d2b 1d78 a640-a66e"
        "10400-1044f"
        "10500-10527"
        "1200-1248 124a-124d 1250-1256 1258 125a-125d 1260-1288 128a-128d 1290-12b0 12b2-12b5 12b8-12be
12c0 12c2-12c5 12c8-12d6 12d8-1310 1312-1315 1318-135a 1380-138f 2d80-2d96 2da0-2da6 2da8-2dae
2db0-2db6 2db8-2dbe 2dc0-2dc6 2dc8-2dce 2dd0-2dd6 2dd8-2dde ab01-ab06 ab09-ab0e ab11-ab16
ab20-ab26 ab28-ab2e 1e7e0-1e7e6 1e7e8-1e7eb 1e7ed-1e7ee 1e7f0-1e7fe"
        "10a0-10c5 10c7 10cd 10d0-10fa 10fc-10ff 1c90-1cba 1cbd-1cbf 2d00-2d25 2d27 2d2d"
        "370-373 376-377 37a-37d 37f 386 388-38a 38c 38e-3a1 3a3-3e1 3f0-3f5 3f7-3ff 1d26-1d2a 1d5d-1d61
1d66-1d6a 1dbf 1f00-1f15 1f18-1f1d 1f20-1f45 1f48-1f4d 1f50-1f57 1f59 1f5b 1f5d 1f5f-1f7d
1f80-1fb4 1fb6-1fbc 1fbe 1fc2-1fc4 1fc6-1fcc 1fd0-1fd3 1fd6-1fdb 1fe0-1fec 1ff2-1ff4 1ff6-1ffc
2126 ab65"
        "5d0-5ea 5ef-5f2 fb1d fb1f-fb28 fb2a-fb36 fb38-fb3c fb3e fb40-fb41 fb43-fb44 fb46-fb4f"
        "a4d0-a4fd 11fb0"
        "10280-1029c"
        "d04-d0c d0e-d10 d12-d3a d3d d4e d54-d56 d5f-d61 d7a-d7f"
        "16f00-16f4a 16f50 16f93-16f9f"
        "7ca-7ea 7f4-7f5 7fa"
        "10300-1031f 1032d-1032f"
        "b05-b0c b0f-b10 b13-b28 b2a-b30 b32-b33 b35-b39 b3d b5c-b5d b5f-b61 b71"
        "104b0-104d3 104d8-104fb"
        "16a0-16ea 16f1-16f8"
        "2d30-2d67 2d6f"
        "11480-114af 114c4-114c5 114c7"
        "118a0-118df 118ff")
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
