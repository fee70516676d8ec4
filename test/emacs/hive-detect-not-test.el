;;; hive-detect-not-test.el --- Text that is not posted, or not at once  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'ert)
(require 'hive-detect-test-help)
(require 'hive-shared)
(require 'hive-shared-test-help)
(require 'kmacro)

;;;; Not posted

(ert-deftest hive-detect/what-is-typed-is-never-posted ()
  (hive-detect-test-with
    (hive-detect-test-type (hive-detect-test-block "half ty"))
    (hive-test-pass 0.5)
    (should-not (hive-shared-test-stored))
    ;; Nor if it is killed and yanked, or filtered through a command.
    (goto-char (hive-shared-start))
    (push-mark (point-max) t t)
    (hive-detect-test-keys "C-w")
    (should (equal (hive-shared-draft) ""))
    (hive-detect-test-keys "C-y")
    (hive-test-pass 0.4)
    (goto-char (hive-shared-start))
    (combine-change-calls (hive-shared-start) (point-max)
      (upcase-region (hive-shared-start) (point-max)))
    (hive-test-pass 0.4)
    (should-not (hive-shared-test-stored))
    (should (string-search "HALF TY" (hive-shared-draft)))))

(ert-deftest hive-detect/what-a-program-adds-to-a-half-typed-block-posts-nothing ()
  (hive-detect-test-with
    (hive-detect-test-type (concat hive-detect-test-head "\n\nhal"))
    (hive-detect-test-append "f a sentence that a program completes")
    (hive-test-pass 0.4)
    (should-not (hive-shared-test-stored))))

(ert-deftest hive-detect/a-yank-of-old-text-is-not-posted ()
  (hive-detect-test-with
    (hive-shared-test-post "one\n\n## 2026-01-11 18:00:00 Claude-abc12\ntwo")
    (hive-shared-test-wait-for "one\n\n## 2026-01-11 18:00:00 Claude-abc12\ntwo")
    (goto-char (point-min))
    (push-mark (hive-shared-end) t t)
    (hive-detect-test-keys "M-w M-> C-y")
    (hive-detect-test-settle)
    (hive-test-pass 0.2)
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
      ;; It stays unchanged.
      (should (equal (hive-shared-draft) block)))))

(ert-deftest hive-detect/the-same-block-again-is-old-text ()
  (hive-detect-test-with
    (dotimes (_ 2)
      (hive-detect-test-append (hive-detect-test-block "again" "Human"))
      (hive-detect-test-settle))
    (should (= 1 (length (hive-shared-test-stored))))
    ;; The same for another Emacs, which has no memory of it.
    (setq hive-detect--known nil)
    (delete-region (hive-shared-start) (point-max))
    (hive-detect-test-append (hive-detect-test-block "again" "Human"))
    (hive-detect-test-settle)
    (hive-test-pass 0.2)
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-detect/undo-and-redo-post-nothing ()
  (hive-detect-test-with
    (hive-detect-test-type "mine ")
    (hive-detect-test-append (hive-detect-test-block "theirs"))
    (hive-detect-test-settle)
    (hive-detect-test-type "more")
    (should (equal (hive-shared-draft) "mine more"))
    (ignore-errors (hive-detect-test-keys "C-/ C-/ C-/ C-/ C-/ C-/"))
    (hive-test-pass 0.4)
    (should (equal (hive-shared-draft) ""))
    (hive-detect-test-keys "C-a C-/ C-/ C-/")
    (hive-test-pass 0.4)
    (should (string-search "mine" (hive-shared-draft)))
    (should (equal (hive-shared-test-stored) '(("unverified" "Claude-xyz" "theirs"))))
    (should (equal (hive-shared-test-bodies) '("theirs")))))

(ert-deftest hive-detect/an-undone-deletion-of-a-block-posts-nothing ()
  (hive-detect-test-with
    (hive-shared-test-post "one")
    (hive-shared-test-wait-for "one")
    (goto-char (hive-shared-top))
    (push-mark (hive-shared-end) t t)
    (hive-detect-test-keys "C-w")
    (undo-boundary)
    (hive-detect-test-keys "C-/")
    (hive-test-pass 0.4)
    (should (equal (hive-shared-test-bodies) '("one")))
    (should (= 1 (length (hive-shared-test-stored))))))

(ert-deftest hive-detect/messages-that-arrive-are-not-read-back ()
  (hive-detect-test-with
    (dotimes (n 5) (hive-shared-test-post (format "%d" n)))
    (hive-shared-test-wait-for "4")
    (hive-test-pass 0.4)
    (should-not hive-detect--changes)
    (should (= 5 (length (hive-shared-test-stored))))))

;;;; When it goes wrong

(ert-deftest hive-detect/an-error-leaves-the-hook-and-the-edit-alone ()
  (hive-detect-test-with
    (cl-letf (((symbol-function 'hive-detect--remember-change) (lambda (&rest _) (error "Oops"))))
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
    ;; It is being posted, so it is not a draft.
    (should (equal (hive-shared-draft) ""))
    (hive-sidecar-start)
    (hive-shared-test-wait-for "offline")
    (hive-detect-test-settle)
    (should (equal (hive-shared-test-stored) '(("unverified" "Claude-xyz" "offline"))))
    (should (= (hive-shared-start) (point-max)))))

(ert-deftest hive-detect/a-block-changed-while-it-is-posted-stays ()
  (hive-detect-test-with
    (hive-sidecar-stop)
    (hive-detect-test-append (hive-detect-test-block "first"))
    (hive-test-wait 5 (hive-outbox-entries 'pending))
    (save-excursion (goto-char (point-max)) (search-backward "first") (insert "the "))
    (hive-sidecar-start)
    (hive-shared-test-wait-for "first")
    (should (string-search "the first" (hive-shared-draft)))))

(ert-deftest hive-detect/a-block-that-is-too-long-is-reported-and-stays ()
  (hive-detect-test-with
    (hive-test-hearing said
      (hive-detect-test-append (hive-detect-test-block (make-string 40000 ?x)))
      (hive-test-wait 5 said)
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
      (should (<= (length hive-detect--changes) (1+ hive-detect--changes-kept))))))
