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

;;;; What the documents let you copy

(defun hive-docs-test-root (name)
  "Return the absolute name of NAME in the project."
  (expand-file-name (concat "../../" name) hive-test-directory))

(defun hive-docs-test-first-recipe (file begin end)
  "Return the forms of FILE between BEGIN and END, regexps."
  (with-temp-buffer
    (insert-file-contents (hive-docs-test-root file))
    (re-search-forward begin)
    (narrow-to-region (point) (save-excursion (re-search-forward end) (match-beginning 0)))
    (let (forms)
      (condition-case nil
          (while t (push (read (current-buffer)) forms))
        (end-of-file (nreverse forms))))))

(ert-deftest hive-docs-the-first-recipe-is-for-every-emacs ()
  "A recipe for the newest Emacs alone would fail in the oldest that Hive runs in."
  (let ((plain '((add-to-list 'load-path "…") (require 'hive-mode) (hive-mode 1))))
    (should (equal plain (hive-docs-test-first-recipe "README.md" "^```elisp\n" "^```$")))
    (should (equal plain (remove '(global-set-key (kbd "C-c h") 'hive-prefix-map)
                                 (hive-docs-test-first-recipe "docs/emacs.md" "^```elisp\n" "^```$"))))))

(ert-deftest hive-docs-name-no-function-newer-than-the-oldest-emacs ()
  (dolist (file (cons (hive-docs-test-root "README.md")
                      (directory-files (hive-docs-test-root "docs") t "\\.md\\'")))
    (ert-info (file)
      (with-temp-buffer
        (insert-file-contents file)
        (should-not (re-search-forward "(\\(setopt\\|keymap-set\\|keymap-global-set\\|defvar-keymap\\) " nil t))))))

(ert-deftest hive-every-list-of-keys-is-in-the-help-of-its-mode ()
  "Of the modes in which keys are pressed, not typed."
  (pcase-dolist (`(,mode . ,command) '((hive-list-mode . hive-list-filter-agent)
                                       (hive-prompt-mode . hive-prompt-choose)
                                       (hive-outreach-mode . hive-outreach-older)
                                       (hive-sessions-mode . hive-session-visit)
                                       (hive-check-mentions-mode . hive-check-mentions-done)
                                       (hive-history-mode . hive-history-older)
                                       (hive-shared-mode . hive-shared-narrow)))
    (ert-info ((symbol-name mode))
      (should (string-match-p (format "\t%s$" command) (documentation mode))))))

(ert-deftest hive-every-command-of-the-menu-is-there ()
  (require 'hive-menu)
  (map-keymap (lambda (_ command) (should (commandp command))) hive-prefix-map))

(provide 'hive-docs-test)
;;; hive-docs-test.el ends here
