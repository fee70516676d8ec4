;;; hive-docs-test.el --- The manual names everything  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Code:

(require 'hive-test-help)

(defun hive-docs-test-missing (regexp)
  "Return what REGEXP finds in elisp/ and docs/emacs.md does not name."
  (let* ((root (expand-file-name "../../" hive-test-directory))
         (manual (with-temp-buffer
                   (insert-file-contents (expand-file-name "docs/emacs.md" root))
                   (buffer-string)))
         missing)
    (dolist (file (directory-files (expand-file-name "elisp" root) t "\\.el\\'"))
      (with-temp-buffer
        (insert-file-contents file)
        (while (re-search-forward regexp nil t)
          (unless (string-match-p (concat "[` ]" (regexp-quote (match-string 1)) "[` ]") manual)
            (push (match-string 1) missing)))))
    missing))

(ert-deftest hive-docs-name-every-command-option-and-face ()
  (should-not (remove "hive-answer-prompt"
                      (hive-docs-test-missing "^;;;###autoload\n(def\\(?:un\\|ine-minor-mode\\) \\([^ \n]+\\)")))
  (should-not (hive-docs-test-missing "^(defcustom \\([^ \n]+\\)"))
  (should-not (hive-docs-test-missing "^(defface \\([^ \n]+\\)")))

(ert-deftest hive-every-command-of-the-menu-is-there ()
  (require 'hive-menu)
  (map-keymap (lambda (_ command) (should (commandp command))) hive-prefix-map))

(provide 'hive-docs-test)
;;; hive-docs-test.el ends here
