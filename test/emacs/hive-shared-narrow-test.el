;;; hive-shared-narrow-test.el --- A shared buffer in a narrow window  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'ert)
(require 'hive-shared)
(require 'hive-test-help)

(defun hive-shared-narrow-test-rule (room)
  "Return the line above the draft, as windows with ROOM columns show it."
  (cl-letf (((symbol-function 'window-max-chars-per-line) (lambda (&rest _) room)))
    (hive-shared--resized (selected-window))) ; batch Emacs has no redisplay
  (goto-char (hive-shared-end))
  (let (shown)
    (while (not (eolp))
      (let ((display (get-text-property (point) 'display))
            (next (next-single-property-change (point) 'display nil (line-end-position))))
        (push (or display (buffer-substring-no-properties (point) next)) shown)
        (goto-char next)))
    (apply #'concat (nreverse shown))))

(ert-deftest hive-shared-narrow-the-line-is-as-wide-as-the-window ()
  (save-window-excursion
    (with-temp-buffer
      (hive-shared-mode)
      (hive-shared-prepare)
      (buffer-enable-undo)
      (switch-to-buffer (current-buffer))
      (delete-other-windows)
      (goto-char (point-max))
      (insert "my draft")
      (let ((text (buffer-substring-no-properties (point-min) (point-max))) (undo buffer-undo-list))
        (dolist (room '(55 40 120))
          (let ((rule (hive-shared-narrow-test-rule room)))
            (should (= room (length rule)))
            (should (string-match-p "\\`-------- write below, C-c C-c posts -+\\'" rule))))
        ;; It is never longer than its words.
        (should (equal "-------- write below, C-c C-c posts " (hive-shared-narrow-test-rule 20)))
        ;; Parsing, copying and undo are unaffected.
        (should (equal text (buffer-substring-no-properties (point-min) (point-max))))
        (should (equal "my draft" (hive-shared-draft)))
        (should (eq undo buffer-undo-list))
        (should-not (text-property-not-all 0 55 'display nil
                                           (filter-buffer-substring (hive-shared-end) (hive-shared-start))))))))

(ert-deftest hive-shared-narrow-lines-are-wrapped-between-words ()
  (with-temp-buffer
    (hive-shared-mode)
    (should word-wrap)
    (should (equal "  " wrap-prefix))
    (should-not (or truncate-lines truncate-partial-width-windows))
    ;; A key that kills a line kills the whole line of the draft.
    (should (eq 'kill-line (key-binding (kbd "C-k"))))))
