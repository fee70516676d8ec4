;;; row.el --- A desk that says when its list shows a permission  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/acp.ts, with the list of questions in a window.
;; Says `bench-ready' when the desk is open, `bench-row TIME' when the list
;; has a row of the permission, TIME being milliseconds of the epoch on Emacs'
;; own clock, and `bench-gone' when the row has gone.

;;; Code:

(require 'hive-mode)

(defun bench-say (format &rest args)
  "Write a line made from FORMAT and ARGS to standard error at once."
  (princ (concat (apply #'format format args) "\n") #'external-debugging-output))

(defvar bench-shown nil "Whether the list has the row.")

(defun bench-look ()
  "Say when the row comes and when it goes."
  (let ((shown (with-current-buffer "*hive*"
                 (save-excursion (goto-char (point-min)) (search-forward "Run make?" nil t)))))
    (unless (eq (not shown) (not bench-shown))
      (if shown (bench-say "bench-row %.3f" (* 1000 (float-time))) (bench-say "bench-gone"))
      (setq bench-shown shown))))

(setq hive-sidecar-command (list (getenv "BENCH_NODE") (getenv "BENCH_HIVE") "sidecar"))
(hive-mode 1)
(add-hook 'hive-connected-hook
          (lambda ()
            (hive-list)
            (add-hook 'hive-changed-hook #'bench-look 100)
            (bench-say "bench-ready"))
          90)

(let ((parent (string-to-number (getenv "BENCH_PARENT"))))
  (while (eq 0 (signal-process parent 0))
    (accept-process-output nil 0.5)))

;;; row.el ends here
