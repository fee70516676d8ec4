;;; use-package-vc.el --- Install the package from a Git repository  -*- lexical-binding: t; -*-

;; emacs -Q --batch -l scripts/use-package-vc.el REPOSITORY
;; Evaluates the form of docs/emacs.md for Emacs 30 with the address of REPOSITORY, as a new user would do.
;; Fails unless the package was installed from there, is compiled without an error, and its mode is on.

(require 'package)
(require 'use-package)

(defvar native-comp-jit-compilation)

(let ((address (pop command-line-args-left))
      (document (expand-file-name "../docs/emacs.md" (file-name-directory load-file-name)))
      (form nil))
  (setq user-emacs-directory (file-name-as-directory (make-temp-file "hive-vc-" t))
        package-user-dir (expand-file-name "elpa" user-emacs-directory)
        package-archives nil
        native-comp-jit-compilation nil)
  (unwind-protect
      (progn
        (with-temp-buffer
          (insert-file-contents document)
          (search-forward ":vc (:url \"")
          (let ((start (point)))
            (search-forward "\"")
            (delete-region start (1- (point)))
            (goto-char start)
            (insert address))
          (re-search-backward "^(use-package")
          (setq form (read (current-buffer))))
        (package-initialize)
        (eval form t)
        (unless (and (bound-and-true-p hive-mode)
                     (string-prefix-p (file-truename package-user-dir) (file-truename (locate-library "hive-mode")))
                     (string-suffix-p ".elc" (locate-library "hive-mode")))
          (error "The package was not installed: %s" (locate-library "hive-mode")))
        (with-current-buffer "*Compile-Log*"
          (goto-char (point-min))
          (when (re-search-forward "^.*: Error: .*$" nil t)
            (error "It was not compiled: %s" (match-string 0))))
        (princ (format "Emacs %s installs the package from a Git repository\n" emacs-version)))
    (when (bound-and-true-p hive-mode) (hive-mode -1))
    (delete-directory user-emacs-directory t)))

;;; use-package-vc.el ends here
