;;; hive-detect-test.el --- Messages that programs insert  -*- lexical-binding: t; -*-

;; Tags: undisturbed

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
                   '(("unverified" "Claude-xyz" "@Claude-abc12 look at this"))))
    ;; It is shown among the messages, with its author, and is not a draft.
    (should (equal (hive-shared-test-bodies) '("@Claude-abc12 look at this")))
    (goto-char (hive-shared-top))
    (should (looking-at "## .* unverified$"))
    (should (eq 'hive-shared-unverified-heading (get-text-property (point) 'font-lock-face)))
    (should (equal (hive-shared-draft) ""))
    (should (string-search "as Claude-xyz"
                           (mapconcat (lambda (overlay) (overlay-get overlay 'after-string))
                                      (overlays-in (point-min) (point-max)) "")))
    ;; The mention has no verified author, and it reached its addressee.
    (should (equal '(("unverified" "unprocessed"))
                   (mapcar (lambda (mention) (list (plist-get mention :from_handle)
                                                   (plist-get mention :status)))
                           (hive-shared-test-do "mentions" :session "Claude-abc12"))))
    ;; Looking again finds nothing.
    (hive-test-pass 0.4)
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
        ;; Each case has its own second: a block equal to a stored one counts as old text.
        (let ((text (replace-regexp-in-string "18:00:00" (format "18:00:%02d" second) text))
              (stored (hive-shared-test-stored)))
          (setq hive-detect--known nil)
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
    ;; Longer than a busy machine may stop this process between two pieces.
    (let ((hive-detect-quiet 1000))
      (dolist (piece (list "## 2026-01-11 " "18:00:00 Claude-xyz" "\n" "\n" "line 1\n" "line 2\n"))
        (hive-detect-test-append piece)
        (hive-test-pass 0.05)))
    ;; By the shorter time that counts again.
    (timer-event-handler hive-detect--timer)
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored) '(("unverified" "Claude-xyz" "line 1\nline 2"))))))

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
                   '(("unverified" "Claude-xyz" "yanked")
                     ("unverified" "Claude-xyz" "in pieces"))))))

;;;; Whose it is

(ert-deftest hive-detect/a-block-mentions-everyone-but-the-one-in-its-heading ()
  (hive-detect-test-with
    (hive-detect-test-append (hive-detect-test-block "@All and @Claude-def34" "Claude-def34"))
    (hive-detect-test-settle)
    (should (= 1 (length (hive-shared-test-do "mentions" :session "Claude-abc12"))))
    (should-not (hive-shared-test-do "mentions" :session "Claude-def34"))))

(ert-deftest hive-detect/what-you-yank-under-your-own-heading-is-yours ()
  (hive-detect-test-with
    (dolist (handle '("Human" "Ada"))
      (kill-new (hive-detect-test-block (concat "by " handle) handle))
      (hive-detect-test-keys "C-y")
      (hive-detect-test-settle))
    (should (equal (hive-shared-test-stored)
                   '(("Human" nil "by Human") ("Human" "Ada" "by Ada"))))))

(ert-deftest hive-detect/what-a-program-writes-under-your-heading-is-not-yours ()
  (hive-detect-test-with
    (hive-detect-test-append (hive-detect-test-block "go on" "Human"))
    (hive-detect-test-settle)
    ;; Nor is text that it adds to a yank of yours.
    (kill-new (hive-detect-test-block "half is yours" "Human"))
    (hive-detect-test-keys "C-y")
    (save-excursion (search-backward "yours") (insert "not "))
    (hive-detect-test-settle)
    ;; Nor text that it writes while a command of yours waits.
    (let ((this-command 'self-insert-command))
      (hive-detect-test-append (hive-detect-test-block "while you type" "Human")))
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored)
                   '(("unverified" "Human" "go on")
                     ("unverified" "Human" "half is not yours")
                     ("unverified" "Human" "while you type"))))))

(ert-deftest hive-detect/what-you-post-with-a-key-is-yours-under-any-heading ()
  (hive-detect-test-with
    (hive-detect-test-type (hive-detect-test-block "@All mine" "Claude-def34"))
    (hive-shared-post)
    (hive-test-wait 10 (= 1 (hive-shared-count)))
    (should (equal (hive-shared-test-stored) '(("Human" "Claude-def34" "@All mine"))))
    (should-not (hive-shared-test-do "mentions" :session "Claude-def34"))
    (should (= 1 (length (hive-shared-test-do "mentions" :session "Claude-abc12"))))))

(ert-deftest hive-detect/a-mention-by-nobody-is-announced-as-such ()
  (hive-detect-test-with
    (hive-test-hearing said
      (hive-detect-test-append (hive-detect-test-block "@Human the build is red" "CI"))
      (hive-test-wait 10 (cl-find-if (lambda (line)
                                       (string-prefix-p "unverified (as CI) mentions you: @Human the" line))
                                     said)))))

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
