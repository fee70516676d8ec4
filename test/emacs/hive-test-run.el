;;; hive-test-run.el --- Runs files of ERT tests, one after the other  -*- lexical-binding: t; -*-

;;; Commentary:

;; One Emacs loads Hive once and runs many files, whose names ert.test.ts
;; writes to it, a line each.  Each file finds the state that Hive has after
;; loading: variables and hooks have their values again, and buffers, windows,
;; timers and processes of earlier files are gone.

;;; Code:

(require 'cl-lib)

;; A third of what the tests cost would be collecting garbage.
(setq gc-cons-threshold (* 64 1024 1024))

(require 'ert)
(require 'hive-test-help)

(defun hive-test-run--files ()
  "Return the names of the temporary files."
  (directory-files temporary-file-directory nil directory-files-no-dot-files-regexp))

(when (hive-test-run--files)
  (error "%s is not empty, and what is left there is deleted after each file of tests: set TMPDIR to a new folder"
         temporary-file-directory))

;; TRAMP registers handlers of file names when it is loaded, and understands no
;; file name any more once it was loaded several times.  Org 9.6 makes a folder.
(require 'tramp)
(require 'org-persist nil t)

;;;; The state of Hive

;; A library's functions on hooks belong to the state, so each is loaded before.
(dolist (folder (list (file-name-directory (locate-library "hive-mode"))
                      hive-test-directory))
  (dolist (file (directory-files folder nil "\\`hive-.*\\.el\\'"))
    (unless (string-match-p "\\(?:-test\\|-autoloads\\|hive-test-run\\|hive-answer-on\\)\\.el\\'" file)
      (require (intern (file-name-sans-extension file))))))

(defun hive-test-run--variables ()
  "Return the variables of Hive and the hooks of all of Emacs."
  (let ((found nil))
    (mapatoms
     (lambda (symbol)
       (when (and (default-boundp symbol)
                  (not (keywordp symbol))
                  (string-match-p "\\`hive-\\|-\\(?:hook\\|functions\\|alist\\)\\'" (symbol-name symbol))
                  (not (string-prefix-p "hive-test-" (symbol-name symbol))))
         (push symbol found))))
    found))

(defun hive-test-run--copy (value)
  "Return VALUE, or a copy if changing it would change the original."
  (cond ((hash-table-p value) (copy-hash-table value))
        ((consp value) (if (proper-list-p value) (copy-sequence value) (cons (car value) (cdr value))))
        (t value)))

(defun hive-test-run--state ()
  "Return the state to which `hive-test-run--restore' goes back."
  (list :variables (mapcar (lambda (symbol)
                             (let ((value (default-value symbol)))
                               (list symbol value (hive-test-run--copy value))))
                           (hive-test-run--variables))
        :buffers (buffer-list)
        :timers (append timer-list timer-idle-list)
        :files (hive-test-run--files)))

(defun hive-test-run--restore (state)
  "Go back to STATE.  Return what the tests have left behind, as strings."
  (let ((left nil))
    (hive-mode -1)
    (hive-test-wait 10 (not (hive-test-sidecars)))
    (dolist (timer (append timer-list timer-idle-list))
      (unless (memq timer (plist-get state :timers)) (cancel-timer timer)))
    ;; The keys of a command that a test has run count as the human's, who is busy then.
    (setq unread-command-events nil this-command nil prefix-arg nil)
    (clear-this-command-keys)
    (let ((ignore-window-parameters t)) (delete-other-windows))
    (switch-to-buffer "*scratch*")
    (dolist (buffer (buffer-list))
      (unless (memq buffer (plist-get state :buffers))
        (let ((kill-buffer-query-functions nil) (kill-buffer-hook nil))
          (with-current-buffer buffer (set-buffer-modified-p nil))
          (kill-buffer buffer))))
    (pcase-dolist (`(,symbol ,value ,copy) (plist-get state :variables))
      (unless (condition-case nil (progn (set-default symbol value) t) (setting-constant t))
        (push (symbol-name symbol) left))
      ;; The value itself may be what others hold: it gets its content back.
      (when (hash-table-p value)
        (clrhash value)
        (maphash (lambda (key one) (puthash key one value)) copy))
      ;; A copy of its own, because it may be changed in place again, as TRAMP
      ;; does with `file-name-handler-alist' when it is loaded.
      (when (and (consp value) (not (equal value copy)))
        (set-default symbol (hive-test-run--copy copy))))
    (dolist (process (process-list))
      (when (process-live-p process)
        (push (format "process %s" (process-name process)) left))
      (delete-process process))
    (dolist (file (cl-set-difference (hive-test-run--files) (plist-get state :files) :test #'equal))
      (push (format "file %s" file) left)
      (let ((path (expand-file-name file temporary-file-directory)))
        (if (file-directory-p path) (delete-directory path t) (delete-file path))))
    left))

;;;; Running

(defun hive-test-run-file (file state)
  "Run the tests of FILE from STATE; say how it went in one last line."
  (ert-delete-all-tests)
  (load file nil t)
  (let* ((stats (ert-run-tests-batch t))
         (left (hive-test-run--restore state)))
    (message "hive-test-run: %d tests, %d unexpected, left behind: %s"
             (ert-stats-total stats)
             ;; ERT counts a test that quits neither as expected nor as unexpected.
             (- (ert-stats-total stats) (ert-stats-completed-expected stats) (ert-stats-skipped stats))
             (if left (string-join left ", ") "nothing"))))

(defun hive-test-run ()
  "Run each file that standard input names, until it ends."
  (let ((state (hive-test-run--state)) (file nil))
    (while (setq file (ignore-errors (read-from-minibuffer "")))
      (hive-test-run-file file state))))

(provide 'hive-test-run)
;;; hive-test-run.el ends here
