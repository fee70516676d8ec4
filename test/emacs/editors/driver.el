;;; driver.el --- Evaluates what a test writes  -*- lexical-binding: t; -*-

;;; Commentary:

;; An Emacs in batch mode, with Hive and its real sidecar: each line of its
;; input is a form, and is answered with its value as a line of JSON.

;;; Code:

;; Compiling a trampoline for each primitive that a library advises would take
;; half a second in each new home.
(defvar native-comp-enable-subr-trampolines)
(defvar comp-enable-subr-trampolines)
(setq native-comp-enable-subr-trampolines nil
      comp-enable-subr-trampolines nil)

;; Half of what loading costs is collecting garbage.
(setq gc-cons-threshold (* 64 1024 1024))

(require 'cl-lib)
(require 'json)
(require 'hive-mode)

(defmacro driver-wait (condition)
  "Wait until CONDITION is true, and return its value; fail after a minute."
  `(let ((deadline (+ (float-time) 60)) value)
     (while (and (not (setq value ,condition)) (< (float-time) deadline))
       (accept-process-output nil 0.02))
     (or value (error "Waited in vain for %S; the log: %s" ',condition
                      (if (get-buffer "*hive log*")
                          (with-current-buffer "*hive log*" (buffer-string)) "")))))

(defun driver-settled ()
  "Wait until the sidecar has handled everything that was sent before."
  (let ((done nil))
    (while hive-rpc--queue (accept-process-output nil 0.005))
    (hive-rpc-request 'session/end (list :session_id "editor-nobody")
                      :success (lambda (_) (setq done t)))
    (driver-wait done)))

(defun driver-run ()
  "Answer each line of the input, until it ends."
  (let (line)
    (while (setq line (ignore-errors (read-from-minibuffer "")))
      (let ((reply (condition-case oops
                       (list :value (eval (car (read-from-string line)) t))
                     (error (list :error (format "%S" oops))))))
        (princ (concat "driver: " (json-encode reply) "\n"))))))

(provide 'driver)
;;; driver.el ends here
