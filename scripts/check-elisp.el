;;; check-elisp.el --- Byte-compile, checkdoc and package-lint elisp/  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run from the root of the project: emacs -Q --batch -l scripts/check-elisp.el
;; With `-- native' after it, it also compiles to native code, which takes minutes.
;; Works on a copy in a temporary directory, so that no .elc is left behind.

;;; Code:

(require 'bytecomp)
(require 'checkdoc)
(require 'cl-lib)

(defvar check-elisp-failures 0)

(defun check-elisp-fail (format &rest args)
  "Report a failure, with FORMAT and ARGS as for `message'."
  (setq check-elisp-failures (1+ check-elisp-failures))
  ;; The progress messages of the checking tools are muted.
  (let ((inhibit-message nil)) (apply #'message format args)))

;; The files of the package have loaded each other, and the compiler does not
;; complain about a variable that has a value, or a macro that is defined
;; below its use.  Emacs compiles a file to native code in a process that has
;; loaded nothing: such a use is a call there, which fails.
(defmacro check-elisp-as-if-new (file &rest body)
  "Run BODY as if FILE was not loaded yet: its variables and macros are unknown."
  (declare (indent 1))
  `(let ((values (mapcar (lambda (variable) (cons variable (symbol-value variable)))
                         (seq-filter #'boundp (check-elisp-defined ,file "const\\|custom\\|var"))))
         (macros (mapcar (lambda (macro) (cons macro (symbol-function macro)))
                         (seq-filter #'fboundp (check-elisp-defined ,file "macro")))))
     (unwind-protect
         (progn
           (dolist (each values) (makunbound (car each)))
           (dolist (each macros) (fmakunbound (car each)))
           ,@body)
       (dolist (each values) (set (car each) (cdr each)))
       (dolist (each macros) (fset (car each) (cdr each))))))

(defun check-elisp-defined (file kinds)
  "Return what FILE defines with a form def… of KINDS, a regexp, as symbols."
  (with-temp-buffer
    (insert-file-contents file)
    (let ((symbols nil))
      (while (re-search-forward (format "^(def\\(?:%s\\) \\([a-z0-9-]+\\)\\_>[ \n]+[^) \n]" kinds) nil t)
        (push (intern (match-string 1)) symbols))
      symbols)))

(defun check-elisp-byte-compile (file)
  "Byte-compile FILE; a warning fails."
  (let ((byte-compile-log-warning-function
         (lambda (text &optional position _fill _level)
           ;; A file that ends too early is reported from outside its own buffer.
           (let ((here (and (integerp position) (<= position (point-max)))))
             (check-elisp-fail "%s:%s: %s" (file-name-nondirectory file)
                               (if here (line-number-at-pos position t) "?") text))))
        (inhibit-message t))
    (byte-compile-file file)))

(defun check-elisp-compile (file)
  "Byte-compile FILE of the package."
  (check-elisp-as-if-new file (check-elisp-byte-compile file)))

;; They call functions of the package that may change, and some of them run
;; only in the slower suites.
(defun check-elisp-calls (file)
  "Fail where FILE, a test or a bench, calls a function with a wrong number of arguments."
  (let ((compiled (make-temp-file "hive-check-" nil ".elc")))
    (unwind-protect
        (let ((byte-compile-warnings '(callargs))
              (byte-compile-dest-file-function (lambda (_file) compiled))
              ;; These say that nobody's Emacs compiles such files.
              (enable-dir-local-variables nil))
          (check-elisp-byte-compile file))
      (delete-file compiled))))

(defun check-elisp-compile-native (file)
  "Compile FILE to native code; a warning fails."
  (let* ((native-comp-eln-load-path (list (file-name-directory file)))
         (native-compile-target-directory (file-name-directory file))
         (native-comp-async-report-warnings-errors nil)
         (made (let ((inhibit-message t)) (native-compile file))))
    (unless (stringp made)
      (check-elisp-fail "%s: it was not compiled to native code" (file-name-nondirectory file)))))

(defun check-elisp-checkdoc (file)
  "Run checkdoc over FILE; everything it finds fails."
  (let ((checkdoc-create-error-function
         (lambda (text start _end &optional _unfixable)
           (check-elisp-fail "%s:%d: %s" (file-name-nondirectory file)
                             (line-number-at-pos (or start (point)) t) text)
           nil)))
    (with-current-buffer (find-file-noselect file)
      (let ((inhibit-message t)) (checkdoc-current-buffer t)))))

;; The clock is read and timers are started in one place, so that a test can
;; put the clock forward.
(defun check-elisp-clock (file)
  "Fail where FILE reads the clock or starts a timer by itself."
  (unless (equal "hive-text.el" (file-name-nondirectory file))
    (check-elisp-each file "(float-time)\\|(current-time)\\|(run-\\(?:at-time\\|with-timer\\)\\_>"
                      "use hive-now, hive-later or hive-every")))

(defun check-elisp-each (file regexp complaint &optional fine)
  "Fail with COMPLAINT for each match of REGEXP in FILE.
A match is not a failure if FINE, a function, returns non-nil at its beginning."
  (with-temp-buffer
    (insert-file-contents file)
    (set-syntax-table emacs-lisp-mode-syntax-table)
    (while (re-search-forward regexp nil t)
      (let ((found (match-beginning 0)))
        (unless (and fine (save-excursion (goto-char found) (funcall fine)))
          (check-elisp-fail "%s:%s: %s" (file-name-nondirectory file)
                            (line-number-at-pos found t) complaint))))))

;; A test waits for a condition (`hive-test-wait') or puts the clock forward
;; (`hive-test-pass'), but never waits for a time that should be enough.
(defun check-elisp-test (file)
  "Fail where FILE, a test, depends on the speed of the machine, or on chance."
  (check-elisp-each file "(\\(?:sit-for\\|sleep-for\\|accept-process-output\\)\\_>"
                    "a test waits for a condition: use hive-test-wait or hive-test-pass"
                    ;; In a loop, it waits for the condition of the loop.
                    (lambda ()
                      (condition-case nil
                          (progn (while (not (looking-at "(while\\_>")) (backward-up-list)) t)
                        (scan-error nil))))
  (unless (member (file-name-nondirectory file) '("hive-test-help.el" "driver.el"))
    (check-elisp-each file "(float-time)"
                      "a test bounds no elapsed time: set the clock, hive-now"))
  (check-elisp-each file "(random\\(?:)\\| [^\"]\\)"
                    "chance in a test needs a seed: call (random \"SEED\") first"
                    (lambda ()
                      (or (looking-at "(random (format ")
                          (let ((here (point)))
                            (beginning-of-defun)
                            (re-search-forward "(random \\(?:\"\\|(format \\)" here t))))))

;; Files with the same first word, such as hive-list.el and hive-list-mark.el,
;; are one family and may share private names.
(defun check-elisp-private (file)
  "Fail where FILE uses a name with two dashes that is another family's."
  (with-current-buffer (find-file-noselect file)
    (save-excursion
      (goto-char (point-min))
      (let ((own (concat (file-name-base file) "-")) (case-fold-search nil))
        (while (re-search-forward "\\_<\\(hive[a-z-]*?-\\)-[a-z][a-z0-9-]*\\_>" nil t)
          (let ((name (match-string 0)))
            (unless (or (string-prefix-p (match-string 1) own)
                        (save-excursion
                          (goto-char (point-min))
                          (re-search-forward
                           (concat "^\\s-*(\\(?:cl-\\)?def[a-z-]* '?(?" (regexp-quote name) "\\_>")
                           nil t)))
              (check-elisp-fail "%s:%d: %s is another file's own" (file-name-nondirectory file)
                                (line-number-at-pos nil t) name))))))))

;; `(interactive nil MODE)' works until the file is compiled to native code.
(defun check-elisp-modes (file)
  "Fail where a command of FILE names its modes in a way that Emacs 28 forgets."
  (check-elisp-each file "^ +(interactive\\_>" "name the mode with `hive-keymap', or with (declare (modes ...))"
                    (lambda () (null (nthcdr 2 (read (current-buffer)))))))

;; Files that the package works without (docs/internals/architecture.md).  The core may
;; name one of their commands, whose file is loaded when the command is called.
(defconst check-elisp-extensions
  '("hive-agent-shell" "hive-eca" "hive-editors" "hive-integrations" "hive-phone" "hive-token")
  "The files that are extensions.")

(defun check-elisp-core (file)
  "Fail where FILE requires an extension, unless it is one, or hive-mode.el."
  (unless (member (file-name-base file) (cons "hive-mode" check-elisp-extensions))
    (check-elisp-each file (concat "(require '" (regexp-opt check-elisp-extensions) ")")
                      "the core requires no extension")))

;; The file that is loaded last would win, and the compiler would not report it.
(defvar check-elisp-names (make-hash-table :test #'equal)
  "Where each function and each variable is defined.")

(defun check-elisp-twice (file)
  "Fail where FILE defines what another file, or itself, has defined."
  (with-current-buffer (find-file-noselect file)
    (save-excursion
      (goto-char (point-min))
      (while (re-search-forward
              (concat "^(\\(?:cl-\\)?def\\(un\\|macro\\|generic\\|const\\|custom\\|var\\|var-local\\)"
                      " \\([a-z0-9-]+\\)\\(?:[ \n]+[^) \n]\\)")
              nil t)
        (let* ((variable (string-match-p "\\`\\(?:const\\|custom\\|var\\)" (match-string 1)))
               (name (match-string 2))
               (key (cons (and variable t) name))
               (place (format "%s:%d" (file-name-nondirectory file) (line-number-at-pos nil t))))
          (when (gethash key check-elisp-names)
            (check-elisp-fail "%s: %s is defined in %s, too" place name
                              (gethash key check-elisp-names)))
          (puthash key place check-elisp-names))))))

(defun check-elisp-lint (file main)
  "Run package-lint over FILE of the package whose main file is MAIN.
Only its errors fail: older versions warn wrongly about Emacs \"28.1\".
The package has no address yet, so a missing header for it passes."
  (setq package-lint-main-file main)
  (with-current-buffer (find-file-noselect file)
    (pcase-dolist (`(,line ,_column ,type ,text) (package-lint-buffer))
      (when (and (eq type 'error) (not (string-match-p "Homepage or URL header" text)))
        (check-elisp-fail "%s:%d: %s" (file-name-nondirectory file) line text)))))

(let* ((directory (make-temp-file "hive-check-" t))
       (main (expand-file-name "hive-mode.el" directory))
       (byte-compile-verbose nil))
  (unwind-protect
      (progn
        (dolist (file (directory-files "elisp" t "\\.el\\'"))
          (unless (string-suffix-p "-autoloads.el" file)
            (copy-file file (file-name-as-directory directory))))
        (add-to-list 'load-path directory)
        (let ((files (directory-files directory t "\\.el\\'")))
          (dolist (lint (file-expand-wildcards "/usr/share/emacs/site-lisp/elpa-src/*" t))
            (add-to-list 'load-path lint))
          (mapc #'check-elisp-checkdoc files)
          (mapc #'check-elisp-private files)
          (mapc #'check-elisp-twice files)
          (mapc #'check-elisp-clock files)
          (mapc #'check-elisp-modes files)
          (mapc #'check-elisp-core files)
          (mapc #'check-elisp-test (directory-files-recursively "test/emacs" "\\.el\\'"))
          (if (require 'package-lint nil t)
              (dolist (file files) (check-elisp-lint file main))
            (check-elisp-fail "package-lint is not installed (Debian: elpa-package-lint): the package was not looked at"))
          (mapc #'check-elisp-compile files)
          (let ((others (mapcan (lambda (folder) (directory-files-recursively folder "\\.el\\'"))
                                (list "test" "bench"))))
            (dolist (file others) (cl-pushnew (expand-file-name (file-name-directory file)) load-path :test #'equal))
            (load (expand-file-name "bench/emacs/desk") nil t)
            (mapc #'check-elisp-calls (mapcar #'expand-file-name others)))
          (when (equal (cdr command-line-args-left) '("native"))
            (if (and (fboundp 'native-comp-available-p) (native-comp-available-p))
                (mapc #'check-elisp-compile-native files)
              (check-elisp-fail "This Emacs compiles nothing to native code")))))
    (delete-directory directory t)))
(kill-emacs (if (zerop check-elisp-failures) 0 1))

;;; check-elisp.el ends here
