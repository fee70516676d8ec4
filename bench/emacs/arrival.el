;;; arrival.el --- A desk that says when it has handled a question  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/emacs.ts.  Says `bench-ready' when the desk is
;; open and `bench-handled TIME' when every handler of a question has run,
;; TIME being milliseconds of the epoch on Emacs' own clock.

;;; Code:

(require 'hive-mode)

(defun bench-say (format &rest args)
  "Write a line made from FORMAT and ARGS to standard error at once."
  (princ (concat (apply #'format format args) "\n") #'external-debugging-output))

(setq hive-sidecar-command (list (getenv "BENCH_NODE") (getenv "BENCH_HIVE") "sidecar"))
(hive-mode 1)
(add-hook 'hive-connected-hook (lambda () (bench-say "bench-ready")) 90)
(add-hook 'hive-arrived-functions
          (lambda (_prompt) (bench-say "bench-handled %.3f" (* 1000 (float-time)))) 90)

(let ((parent (string-to-number (getenv "BENCH_PARENT"))))
  (while (eq 0 (signal-process parent 0))
    (accept-process-output nil 0.5)))

;;; arrival.el ends here
