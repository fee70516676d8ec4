;;; hive-docs-test.el --- The manual is complete  -*- lexical-binding: t; -*-

(require 'cl-lib)
(require 'hive-test-help)
(require 'package)

(dolist (file (directory-files (expand-file-name "../../elisp" hive-test-directory) nil "\\.el\\'"))
  (require (intern (file-name-sans-extension file))))

(defun hive-docs-test-missing (wanted)
  "Return the symbols of Hive that WANTED is true of and docs/emacs.md does not name."
  (let ((manual (with-temp-buffer
                  (insert-file-contents (expand-file-name "../../docs/emacs.md" hive-test-directory))
                  (buffer-string)))
        (found 0)
        missing)
    (mapatoms
     (lambda (symbol)
       (let ((name (symbol-name symbol)))
         (when (and (string-match-p "\\`hive-\\(?:[^-]\\|\\'\\)" name)
                    (not (string-match-p "\\`hive-\\(?:test\\|docs\\)-\\|--" name))
                    (funcall wanted symbol))
           (cl-incf found)
           (unless (string-match-p (concat "[` ]" (regexp-quote name) "[` ]") manual)
             (push symbol missing))))))
    (should (> found 5))
    missing))

(defun hive-docs-test-autoloads ()
  "Return the commands that an installed package knows before it is loaded."
  (let ((folder (make-temp-file "hive-docs-test" t)) forms)
    (unwind-protect
        (progn
          (dolist (file (directory-files (expand-file-name "../../elisp" hive-test-directory) t "\\.el\\'"))
            (copy-file file (file-name-as-directory folder)))
          (let ((inhibit-message t)) (package-generate-autoloads "hive" folder))
          (with-temp-buffer
            (insert-file-contents (expand-file-name "hive-autoloads.el" folder))
            (condition-case nil
                (while t (push (read (current-buffer)) forms))
              (end-of-file nil))))
      (dolist (buffer (buffer-list))
        (when (and (buffer-file-name buffer) (file-in-directory-p (buffer-file-name buffer) folder))
          (with-current-buffer buffer (set-buffer-modified-p nil))
          (kill-buffer buffer)))
      (delete-directory folder t))
    (cl-loop for form in forms
             when (eq (car-safe form) 'autoload) collect (eval (nth 1 form) t))))

(ert-deftest hive-docs-name-every-command-option-and-face ()
  (let ((autoloads (hive-docs-test-autoloads)))
    (should (memq 'hive-next autoloads))
    (should-not (remq 'hive-answer-prompt
                      (hive-docs-test-missing
                       (lambda (symbol) (and (memq symbol autoloads) (commandp symbol)))))))
  ;; Every minor mode has a hook, and customize shows it.
  (should-not (remq 'hive-mode-hook (hive-docs-test-missing #'custom-variable-p)))
  (should-not (hive-docs-test-missing #'facep)))

;;;; Examples of the documents

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
  "A recipe that works only in the newest Emacs would fail in the oldest supported one."
  ;; The same lines as `hive init emacs' writes.
  (should (equal '((add-to-list 'load-path "…") (require 'hive-mode)
                   (global-set-key (kbd "C-c h") 'hive-prefix-map) (hive-mode 1))
                 (hive-docs-test-first-recipe "docs/emacs.md" "^```elisp\n" "^```$"))))

(ert-deftest hive-docs-use-package-starts-hive-and-has-its-keys ()
  "If it were deferred, it would not start."
  (let* ((recipe (car (hive-docs-test-first-recipe "docs/emacs.md"
                                                   "^The same with `use-package`\\(?:.*\n\\)+?```elisp\n"
                                                   "^```$")))
         (arguments (cddr recipe))
         (config (cdr (memq :config arguments))))
    (should (equal '(use-package hive-mode) (list (car recipe) (cadr recipe))))
    (should (eq t (cadr (memq :demand arguments))))
    (should (equal '(hive-mode 1) (car (last config))))
    ;; In a new Emacs, what is announced names the key before it was pressed for the first time.
    (with-temp-buffer
      (should (equal 0 (call-process
                        (expand-file-name invocation-name invocation-directory) nil t nil
                        "-Q" "--batch" "-L" (file-name-directory (locate-library "hive-mode"))
                        "--eval" (format "(progn (require '%s) %s (princ (hive-with-keys \"\\\\[hive-next]\")))"
                                         (cadr recipe)
                                         (mapconcat (lambda (form) (format "%S" form)) (butlast config) " ")))))
      (should (equal "C-c h n" (buffer-string))))))

(ert-deftest hive-docs-name-no-function-newer-than-the-oldest-emacs ()
  (dolist (file (cons (hive-docs-test-root "README.md")
                      (directory-files (hive-docs-test-root "docs") t "\\.md\\'")))
    (ert-info (file)
      (with-temp-buffer
        (insert-file-contents file)
        (should-not (re-search-forward "(\\(setopt\\|keymap-set\\|keymap-global-set\\|defvar-keymap\\) " nil t))))))

(ert-deftest hive-every-list-of-keys-is-in-the-help-of-its-mode ()
  "In modes whose keys are commands."
  (pcase-dolist (`(,mode . ,command) '((hive-list-mode . hive-list-filter-agent)
                                       (hive-prompt-mode . hive-prompt-choose)
                                       (hive-outreach-mode . hive-outreach-older)
                                       (hive-check-mentions-mode . hive-check-mentions-done)
                                       (hive-history-mode . hive-history-older)
                                       (hive-shared-mode . hive-shared-narrow)))
    (ert-info ((symbol-name mode))
      (should (string-match-p (format "\t%s$" command) (documentation mode))))))

(ert-deftest hive-completes-few-commands-outside-its-own-buffers ()
  "With the predicate that comes with Emacs 28; what is of use in one buffer only is completed there."
  (require 'hive-menu)
  (let ((commands (lambda (mode)
                    (with-temp-buffer
                      (setq major-mode mode)
                      (cl-loop for symbol being the symbols
                               when (and (string-prefix-p "hive" (symbol-name symbol)) (commandp symbol)
                                         (command-completion-default-include-p symbol (current-buffer)))
                               collect symbol)))))
    (let ((everywhere (funcall commands 'fundamental-mode)))
      (should (<= (length everywhere) 30))
      (should (memq 'hive-next everywhere))
      (should-not (memq 'hive-list-cancel everywhere)))
    (should (memq 'hive-list-cancel (funcall commands 'hive-list-mode)))
    (should (memq 'hive-session-visit (funcall commands 'hive-list-mode)))))

(ert-deftest hive-each-menu-has-keys-that-scroll-and-quit-it ()
  (require 'hive-menu)
  (should-not (eq 'hive-do-not-disturb (lookup-key hive-prefix-map "q")))
  (dolist (menu '(hive-menu hive-keys))
    (ert-info ((symbol-name menu))
      (pcase-dolist (`(,key . ,command) '(("C-v" . transient-scroll-up) ("q" . transient-quit-one)))
        (should (eq command (plist-get (nth 2 (transient-get-suffix menu key)) :command)))))))

(ert-deftest hive-a-question-mark-is-a-menu-of-all-keys-of-the-buffer ()
  (require 'hive-menu)
  (dolist (mode '(hive-batch-mode hive-check-mentions-mode hive-history-mode hive-list-mode hive-outreach-mode
                  hive-phone-list-mode hive-phone-mode hive-prompt-mode hive-rule-mode hive-rules-mode
                  hive-stats-mode))
    (ert-info ((symbol-name mode))
      (with-temp-buffer
        (cl-letf (((symbol-function 'hive-rpc-while-shown) #'ignore)) (funcall mode))
        (should (eq 'hive-keys (key-binding "?")))
        (let* ((transient--prefix (transient--init-prefix 'hive-keys))
               (offered (mapcar (lambda (suffix) (oref suffix command))
                                (transient--flatten-suffixes (transient--init-suffixes 'hive-keys)))))
          (map-keymap (lambda (_ command)
                        (when (and (symbolp command)
                                   (not (memq command '(hive-list-quit hive-prompt-choose hive-prompt-backtab)))
                                   (string-prefix-p (string-remove-suffix "mode" (symbol-name mode))
                                                    (symbol-name command)))
                          (should (memq command offered))))
                      (symbol-value (intern (format "%s-map" mode)))))))))

(ert-deftest hive-every-command-of-the-menu-exists ()
  (require 'hive-menu)
  (map-keymap (lambda (_ command) (should (commandp command))) hive-prefix-map))
