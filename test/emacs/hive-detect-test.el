;;; hive-detect-test.el --- Tests of messages that programs insert  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-shared-test-help)
(require 'kmacro)

(defconst hive-detect-test-head "## 2026-01-11 18:00:00 Claude-xyz"
  "The heading of a block.")

(defun hive-detect-test-block (body &optional handle)
  "Return a block with BODY under HANDLE."
  (hive-format-block "2026-01-11 18:00:00" (or handle "Claude-xyz") body))

(defun hive-detect-test-settle ()
  "Wait until every change was looked at and everything is stored and shown."
  (hive-test-wait 10 (and (null hive-detect--timer) (null hive-detect--changes)))
  (hive-test-wait 10 (null (hive-outbox-entries 'pending)))
  (hive-test-wait 10 (cl-every (lambda (id) (hive-shared-message id)) hive-detect-test-ids)))

(defvar hive-detect-test-ids nil "The ids that were stored.")

(defun hive-detect-test-note (_id result)
  "Remember the id of the message in RESULT."
  (push (plist-get (plist-get result :message) :message_id) hive-detect-test-ids))

(defmacro hive-detect-test-with (&rest body)
  "Run BODY in the shared buffer, which is selected."
  (declare (indent 0) (debug t))
  `(hive-shared-test-with
     (let ((hive-detect-test-ids nil)
           ;; Half a second, in short.
           (hive-detect-quiet 0.15)
           (hive-post-stored-functions (append hive-post-stored-functions
                                               '(hive-detect-test-note))))
       (hive-shared-test-open)
       (switch-to-buffer (current-buffer))
       (goto-char (point-max))
       ,@body)))

(defun hive-detect-test-append (text)
  "Append TEXT to the buffer as another program would, and stay where we are."
  (save-excursion (goto-char (point-max)) (insert text)))

(defun hive-detect-test-keys (keys)
  "Type KEYS, as `kbd' has them."
  (let ((execute-kbd-macro-with-message nil))
    (execute-kbd-macro (if (stringp keys) (kbd keys) keys))))

(defun hive-detect-test-type (text)
  "Type TEXT, character by character."
  (execute-kbd-macro (vconcat (mapcar (lambda (char) (if (= char ?\n) ?\r char)) text))))

;;;; What is posted

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
          (setq hive-found--known nil)
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

;;;; What is not

(ert-deftest hive-detect/what-is-typed-is-never-posted ()
  (hive-detect-test-with
    (hive-detect-test-type (hive-detect-test-block "half ty"))
    (sit-for 0.5)
    (should-not (hive-shared-test-stored))
    ;; Nor when it is killed and yanked, or put through a command.
    (goto-char (hive-shared-start))
    (push-mark (point-max) t t)
    (hive-detect-test-keys "C-w")
    (should (equal (hive-shared-draft) ""))
    (hive-detect-test-keys "C-y")
    (sit-for 0.4)
    (goto-char (hive-shared-start))
    (combine-change-calls (hive-shared-start) (point-max)
      (upcase-region (hive-shared-start) (point-max)))
    (sit-for 0.4)
    (should-not (hive-shared-test-stored))
    (should (string-search "HALF TY" (hive-shared-draft)))))

(ert-deftest hive-detect/what-a-program-adds-to-a-half-typed-block-posts-nothing ()
  (hive-detect-test-with
    (hive-detect-test-type (concat hive-detect-test-head "\n\nhal"))
    (hive-detect-test-append "f a sentence that a program completes")
    (sit-for 0.4)
    (should-not (hive-shared-test-stored))))

(ert-deftest hive-detect/a-yank-of-old-text-is-not-posted ()
  (hive-detect-test-with
    (hive-shared-test-post "one\n\n## 2026-01-11 18:00:00 Claude-abc12\ntwo")
    (hive-shared-test-wait-for "one\n\n## 2026-01-11 18:00:00 Claude-abc12\ntwo")
    (goto-char (point-min))
    (push-mark (hive-shared-end) t t)
    (hive-detect-test-keys "M-w M-> C-y")
    (hive-detect-test-settle)
    (sit-for 0.2)
    (should (= 1 (length (hive-shared-test-stored))))
    (should (string-search "Claude-abc12" (hive-shared-draft)))
    ;; A copy is plain text.
    (should-not (text-property-not-all (hive-shared-start) (point-max) 'hive-message nil))
    (should-not (text-property-not-all (hive-shared-start) (point-max) 'keymap nil))))

(ert-deftest hive-detect/an-old-message-that-is-not-shown-is-known-to-the-store ()
  (hive-detect-test-with
    (let* ((message (hive-shared-test-post "long ago"))
           (block (hive-format-message message)))
      (hive-shared-test-wait-for "long ago")
      (hive-shared-drop-first 1)
      (hive-detect-test-append block)
      (hive-test-wait 5 hive-detect-test-ids)
      (should (equal hive-detect-test-ids (list (plist-get message :message_id))))
      (should (= 1 (length (hive-shared-test-stored))))
      ;; It stays as the text that it is.
      (should (equal (hive-shared-draft) block)))))

(ert-deftest hive-detect/the-same-block-again-is-old-text ()
  (hive-detect-test-with
    (dotimes (_ 2)
      (hive-detect-test-append (hive-detect-test-block "again" "Human"))
      (hive-detect-test-settle))
    (should (= 1 (length (hive-shared-test-stored))))
    ;; Also for another Emacs, which remembers nothing.
    (setq hive-found--known nil)
    (delete-region (hive-shared-start) (point-max))
    (hive-detect-test-append (hive-detect-test-block "again" "Human"))
    (hive-detect-test-settle)
    (sit-for 0.2)
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-detect/undo-and-redo-post-nothing ()
  (hive-detect-test-with
    (hive-detect-test-type "mine ")
    (hive-detect-test-append (hive-detect-test-block "theirs"))
    (hive-detect-test-settle)
    (hive-detect-test-type "more")
    (should (equal (hive-shared-draft) "mine more"))
    (ignore-errors (hive-detect-test-keys "C-/ C-/ C-/ C-/ C-/ C-/"))
    (sit-for 0.4)
    (should (equal (hive-shared-draft) ""))
    (hive-detect-test-keys "C-a C-/ C-/ C-/")
    (sit-for 0.4)
    (should (string-search "mine" (hive-shared-draft)))
    (should (equal (hive-shared-test-stored) '(("Human" "Claude-xyz" "theirs"))))
    (should (equal (hive-shared-test-bodies) '("theirs")))))

(ert-deftest hive-detect/an-undone-deletion-of-a-block-posts-nothing ()
  (hive-detect-test-with
    (hive-shared-test-post "one")
    (hive-shared-test-wait-for "one")
    (goto-char (point-min))
    (push-mark (hive-shared-end) t t)
    (hive-detect-test-keys "C-w")
    (undo-boundary)
    (hive-detect-test-keys "C-/")
    (sit-for 0.4)
    (should (equal (hive-shared-test-bodies) '("one")))
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-detect/messages-that-arrive-are-not-read-back ()
  (hive-detect-test-with
    (dotimes (n 5) (hive-shared-test-post (format "%d" n)))
    (hive-shared-test-wait-for "4")
    (sit-for 0.4)
    (should-not hive-detect--changes)
    (should (= 5 (length (hive-shared-test-stored))))))

;;;; When it goes wrong

(ert-deftest hive-detect/an-error-leaves-the-hook-and-the-edit-alone ()
  (hive-detect-test-with
    (cl-letf (((symbol-function 'hive-detect--note) (lambda (&rest _) (error "Oops"))))
      (hive-detect-test-append "text"))
    (should (memq #'hive-detect--changed after-change-functions))
    (cl-letf (((symbol-function 'hive-format-parse) (lambda (&rest _) (error "Oops"))))
      (hive-detect-test-append "more")
      (hive-test-wait 5 (null hive-detect--timer)))
    (should (equal (hive-shared-draft) "textmore"))
    (hive-detect-test-append (concat "\n" (hive-detect-test-block "hello")))
    (hive-detect-test-settle)
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-detect/without-a-sidecar-it-is-posted-when-there-is-one ()
  (hive-detect-test-with
    (hive-sidecar-stop)
    (hive-detect-test-append (hive-detect-test-block "offline"))
    (hive-test-wait 5 (hive-outbox-entries 'pending))
    (should (string-search "offline" (buffer-string)))
    ;; It is being posted, and no draft.
    (should (equal (hive-shared-draft) ""))
    (hive-sidecar-start)
    (hive-shared-test-wait-for "offline")
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored) '(("Human" "Claude-xyz" "offline"))))
    (should (= (hive-shared-start) (point-max)))))

(ert-deftest hive-detect/what-was-changed-meanwhile-stays ()
  (hive-detect-test-with
    (hive-sidecar-stop)
    (hive-detect-test-append (hive-detect-test-block "first"))
    (hive-test-wait 5 (hive-outbox-entries 'pending))
    (save-excursion (goto-char (point-max)) (search-backward "first") (insert "the "))
    (hive-sidecar-start)
    (hive-shared-test-wait-for "first")
    (should (string-search "the first" (hive-shared-draft)))))

(ert-deftest hive-detect/too-long-is-said-and-stays ()
  (hive-detect-test-with
    (let ((said nil))
      (cl-letf (((symbol-function 'hive-notify-say)
                 (lambda (format &rest args) (push (apply #'format format args) said))))
        (hive-detect-test-append (hive-detect-test-block (make-string 40000 ?x)))
        (hive-test-wait 5 said))
      (should (string-search "too long" (car said))))
    (should (> (length (hive-shared-draft)) 40000))
    (should-not (hive-shared-test-stored))))

(ert-deftest hive-detect/what-is-remembered-is-bounded ()
  (hive-detect-test-with
    (let ((hive-detect-quiet 1000))
      (dotimes (n 2000)
        (goto-char (hive-shared-start))
        (let ((this-command nil)) (insert "x\n"))
        (forward-line -1))
      (should (<= (length hive-detect--changes) (1+ hive-detect--most))))))

(provide 'hive-detect-test)
;;; hive-detect-test.el ends here
