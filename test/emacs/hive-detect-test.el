;;; hive-detect-test.el --- Tests of messages that programs insert  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-detect-test-help)
(require 'hive-shared)
(require 'hive-shared-test-help)

(ert-deftest hive-detect/a-block-that-a-program-inserts-is-posted-once ()
  (hive-detect-test-with
    (hive-shared-test-do "join" :session_id "xyz-session")
    (hive-detect-test-append (hive-detect-test-block "@Claude-abc12 look at this"))
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored)
                   '(("Human" "Claude-xyz" "@Claude-abc12 look at this"))))
    ;; It is shown among the messages, as what it is, and is no draft.
    (should (equal (hive-shared-test-bodies) '("@Claude-abc12 look at this")))
    (should (string-search "Human" (hive-shared-test-shown)))
    (should (equal (hive-shared-draft) ""))
    (should (string-search "as Claude-xyz"
                           (mapconcat (lambda (overlay) (overlay-get overlay 'after-string))
                                      (overlays-in (point-min) (point-max)) "")))
    ;; The mention is the human's, and reached its addressee.
    (should (equal '(("Human" "unprocessed"))
                   (mapcar (lambda (mention) (list (plist-get mention :from_handle)
                                                   (plist-get mention :status)))
                           (hive-shared-test-do "mentions" :session "Claude-abc12"))))
    ;; A second look finds nothing.
    (sit-for 0.4)
    (should (= 1 (length (hive-shared-test-stored))))))

(defconst hive-detect-test-table
  `(("a block" ,(hive-detect-test-block "hello") ("hello"))
    ("CRLF" ,(concat hive-detect-test-head "\r\n\r\nhello\r\n") ("hello"))
    ("blank lines before it" ,(concat "\n\n" (hive-detect-test-block "hello")) ("hello"))
    ("two blocks" ,(concat (hive-detect-test-block "one") "\n" (hive-detect-test-block "two"))
     ("one" "two"))
    ("front matter and a title"
     ,(concat (hive-format-front "2026-01-11 18:00:00" nil) (hive-detect-test-block "hello"))
     ("hello") ,(string-trim-right (hive-format-front "2026-01-11 18:00:00" nil)))
    ("behind a draft that ends in the middle of a line" ,(hive-detect-test-block "hello")
     ("hello") "half a sent" "half a sent")
    ("unicode and dashes" ,(hive-detect-test-block "日本語 ünï" "Cläude-日-1") ("日本語 ünï"))
    ("an escaped heading" ,(concat hive-detect-test-head "\n\n\\" hive-detect-test-head "\n")
     (,hive-detect-test-head))
    ("the heading alone" ,hive-detect-test-head () ,hive-detect-test-head)
    ("the heading and blanks" ,(concat hive-detect-test-head "\n\n  \n") ()
     ,(concat hive-detect-test-head "\n\n  \n"))
    ("no heading" "hello\nthere\n" () "hello\nthere\n")
    ("a quoted block" ,(concat "> " (hive-detect-test-block "hello")) ()
     ,(concat "> " (hive-detect-test-block "hello"))))
  "Name, what is inserted, the bodies posted, the draft that stays, the draft before.")

(ert-deftest hive-detect/table ()
  (hive-detect-test-with
    (cl-loop
     for (name text bodies draft before) in hive-detect-test-table
     for second from 0
     do
      (ert-info (name)
        (delete-region (hive-shared-start) (point-max))
        ;; Each case has a second of its own: a block like one that is stored is old text.
        (let ((text (replace-regexp-in-string "18:00:00" (format "18:00:%02d" second) text))
              (stored (hive-shared-test-stored)))
          (setq hive-shared-compose--known nil)
          (when before (hive-detect-test-type before))
          (hive-detect-test-append text)
          (hive-detect-test-settle)
          (should (equal (mapcar (lambda (body)
                                   (replace-regexp-in-string "18:00:[0-9]+" "18:00:00" body))
                                 (mapcar #'cl-third
                                         (nthcdr (length stored) (hive-shared-test-stored))))
                         bodies))
          (should (equal (replace-regexp-in-string "\\(?:18\\|T18\\):00:[0-9]+"
                                                   (lambda (match)
                                                     (concat (substring match 0 -2) "00"))
                                                   (hive-shared-draft))
                         (or draft ""))))))))

(ert-deftest hive-detect/two-programs-inserting-at-once ()
  (hive-detect-test-with
    (hive-detect-test-append (hive-detect-test-block "from one" "One"))
    (hive-detect-test-append (hive-detect-test-block "from two" "Two"))
    (save-excursion
      (goto-char (hive-shared-start))
      (insert (hive-detect-test-block "from three" "Three")))
    (save-excursion
      (goto-char (point-min))
      (insert (hive-detect-test-block "from four" "Four")))
    (hive-detect-test-settle)
    (should (equal (sort (mapcar #'cl-second (hive-shared-test-stored)) #'string<)
                   '("Four" "One" "Three" "Two")))
    (should (equal (hive-shared-draft) ""))
    (should (= 4 (length (hive-shared-test-bodies))))))

(ert-deftest hive-detect/a-program-may-write-in-pieces ()
  (hive-detect-test-with
    (dolist (piece (list "## 2026-01-11 " "18:00:00 Claude-xyz" "\n" "\n" "line 1\n" "line 2\n"))
      (hive-detect-test-append piece)
      (sit-for 0.05))
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored) '(("Human" "Claude-xyz" "line 1\nline 2"))))))

(ert-deftest hive-detect/a-command-may-insert-a-block ()
  (hive-detect-test-with
    (kill-new (hive-detect-test-block "yanked"))
    (hive-detect-test-keys "C-y")
    (hive-detect-test-settle)
    (cl-letf (((symbol-function 'hive-detect-test-command)
               (lambda () (interactive)
                 (dolist (piece (list hive-detect-test-head "\n\n" "in " "pieces"))
                   (insert piece)))))
      (local-set-key (kbd "C-c z") 'hive-detect-test-command)
      (hive-detect-test-keys "C-c z"))
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored)
                   '(("Human" "Claude-xyz" "yanked") ("Human" "Claude-xyz" "in pieces"))))))

(ert-deftest hive-detect/many-changes-in-one ()
  (hive-detect-test-with
    (save-excursion
      (goto-char (point-max))
      (combine-change-calls (point-max) (point-max)
        (insert hive-detect-test-head "\n\n")
        (dotimes (n 100) (insert (format "%d\n" n)))))
    (hive-detect-test-settle)
    (should (equal 1 (length (hive-shared-test-stored))))
    (should (string-suffix-p "\n99" (cl-third (car (hive-shared-test-stored)))))))

;;; hive-detect-test.el ends here
