;;; hive-shared-undisturbed-test.el --- Reading and writing are not disturbed  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: AGENT_NAME:MODEL_VERSION

;; Tags: undisturbed

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-shared-test-help)

(ert-deftest hive-shared/point-mark-draft-and-undo-survive-arrivals ()
  (hive-shared-test-with
    (hive-shared-test-post "first")
    (hive-shared-test-open)
    (switch-to-buffer (current-buffer))
    (goto-char (point-max))
    (dolist (word '("one " "two " "three"))
      (insert word)
      (undo-boundary))
    (push-mark (- (point) 5) t t)
    (backward-char 2)
    (setq deactivate-mark nil)
    (let ((draft (hive-shared-draft)) (text (buffer-substring (region-beginning) (region-end))))
      (dotimes (n 10) (hive-shared-test-post (format "news %d" n)))
      (hive-shared-test-wait-for "news 9")
      (should (equal (hive-shared-draft) draft))
      (should (equal text (buffer-substring (region-beginning) (region-end))))
      (should (equal text "thr"))
      (should mark-active)
      (should-not deactivate-mark)
      (primitive-undo 1 (cdr buffer-undo-list))
      (should (equal (hive-shared-draft) "one two "))
      (should (equal (car (last (hive-shared-test-bodies))) "news 9")))))

(ert-deftest hive-shared/a-reader-above-stays-there ()
  (hive-shared-test-with
    (dotimes (n 30) (hive-shared-test-post (format "line %d" n)))
    (hive-shared-test-open)
    (switch-to-buffer (current-buffer))
    (goto-char (point-min))
    (search-forward "line 11")
    (set-window-start (selected-window) (line-beginning-position -3))
    (let ((point (point)) (start (window-start)))
      (dotimes (n 5) (hive-shared-test-post (format "news %d" n)))
      (hive-shared-test-wait-for "news 4")
      (should (= point (point)))
      (should (= start (window-start)))
      (should (looking-back "line 11" (line-beginning-position))))))

(ert-deftest hive-shared/arrivals-do-not-mark-the-buffer-modified ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (set-buffer-modified-p nil)
    (let ((changes 0))
      (add-hook 'after-change-functions (lambda (&rest _) (cl-incf changes)) nil t)
      (hive-shared-test-post "news")
      (hive-shared-test-wait-for "news")
      (should (= changes 0))
      (should-not (buffer-modified-p))
      (should (equal buffer-undo-list nil)))))

(ert-deftest hive-shared/editing-and-deleting-what-is-shown-changes-nothing ()
  (hive-shared-test-with
    (hive-shared-test-post "@Human one")
    (hive-shared-test-post "two")
    (hive-shared-test-open)
    (hive-test-wait 5 (= 1 (hive-mentions-count)))
    (goto-char (hive-shared-top))
    (search-forward "one")
    (insert " edited @Claude-abc12")
    (forward-line 1)
    (delete-region (point) (hive-shared-end))
    (goto-char (hive-shared-top))
    (delete-region (point) (line-end-position))
    (hive-test-pass 0.6)
    (hive-shared-test-post "three")
    (hive-shared-test-wait-for "three")
    (delete-region (hive-shared-top) (hive-shared-end))
    (hive-test-pass 0.6)
    (should (equal (hive-shared-test-stored)
                   '(("Claude-abc12" nil "@Human one") ("Claude-abc12" nil "two")
                     ("Claude-abc12" nil "three"))))
    (should (equal '("unprocessed") (mapcar (lambda (mention) (plist-get mention :status))
                                            (hive-shared-test-do "mentions"))))
    ;; New messages are shown as usual.
    (hive-shared-test-post "four")
    (hive-shared-test-wait-for "four")))

(ert-deftest hive-shared/the-line-cannot-be-deleted-by-mistake ()
  (hive-shared-test-with
    (hive-shared-test-open)
    (goto-char (point-max))
    (should-error (delete-char -1) :type 'text-read-only)
    (should-error (kill-region (point-min) (point-max)) :type 'text-read-only)
    (insert "mine")
    (should (equal (hive-shared-draft) "mine"))))

(ert-deftest hive-shared/a-stray-key-changes-no-message ()
  (hive-shared-test-with
    (hive-shared-test-post "one two three")
    (hive-shared-test-open)
    (switch-to-buffer (current-buffer))
    (goto-char (point-max))
    (insert "mine ")
    (let ((shown (hive-shared-test-shown)))
      (dolist (key '("x" "y"))
        (goto-char (hive-shared-top))
        (search-forward "two")
        (hive-shared-test-press key))
      (should (equal (hive-shared-draft) "mine xy"))
      ;; DEL, C-d, RET, C-o: nothing, and the hook stays.
      (dolist (key '("DEL" "C-d" "RET" "C-o"))
        (goto-char (hive-shared-top))
        (search-forward "two")
        (should-error (hive-shared-test-press key) :type 'user-error))
      (should (equal (hive-shared-test-shown) shown))
      (should (equal (hive-shared-draft) "mine xy"))
      (goto-char (point-max))
      (hive-shared-test-press "DEL")
      (should (equal (hive-shared-draft) "mine x")))))

(defun hive-shared-test-press (key)
  "Run the command of KEY, a key description, as the command loop does."
  (let* ((keys (kbd key)) (last-command-event (aref keys 0))
         (this-command (key-binding keys)))
    (run-hooks 'pre-command-hook)
    (call-interactively this-command)))

;;; hive-shared-undisturbed-test.el ends here
