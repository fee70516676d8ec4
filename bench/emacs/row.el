;;; row.el --- A desk that says when its list shows a permission  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/acp.ts, with the list of questions in a window.
;; Says `bench-ready' when the desk is open, `bench-row TIME' when the list
;; has a row of the permission, TIME being milliseconds of the epoch on Emacs'
;; own clock, and `bench-gone' when the row has gone.
;;
;; With BENCH_ROUNDS, the agent is in a buffer of this Emacs: the stand-in for
;; agent-shell asks so often, and `bench-took MS' says how long each row took.

;;; Code:

(require 'hive-mode)

(defun bench-say (format &rest args)
  "Write a line made from FORMAT and ARGS to standard error at once."
  (princ (concat (apply #'format format args) "\n") #'external-debugging-output))

(defvar bench-shown nil "Since when the list has the row, or nil.")

(defun bench-look ()
  "Say when the row comes and when it goes."
  (let ((shown (with-current-buffer "*hive*"
                 (save-excursion (goto-char (point-min)) (search-forward "Run make?" nil t)))))
    (unless (eq (not shown) (not bench-shown))
      (if shown (bench-say "bench-row %.3f" (* 1000 (float-time))) (bench-say "bench-gone"))
      (setq bench-shown (and shown (float-time))))))

(defun bench-ask (rounds)
  "Have an agent of agent-shell ask ROUNDS times, and its person refuse."
  (require 'agent-shell)
  (let ((shell (stand-in-start "Gemini")))
    (with-current-buffer shell (stand-in-submit "Go on"))
    (dotimes (n rounds)
      (let ((began (float-time)))
        (with-current-buffer shell (stand-in-ask n '((command . "make"))))
        (while (not bench-shown) (accept-process-output nil 0.5))
        (bench-say "bench-took %.3f" (* 1000 (- bench-shown began))))
      (with-current-buffer shell (stand-in-press n "once"))
      (while bench-shown (accept-process-output nil 0.5)))))

(setq hive-sidecar-command (list (getenv "BENCH_NODE") (getenv "BENCH_HIVE") "sidecar"))
(hive-mode 1)
(add-hook 'hive-connected-hook
          (lambda ()
            (hive-list)
            (add-hook 'hive-changed-hook #'bench-look 100)
            (bench-say "bench-ready"))
          90)

(when (getenv "BENCH_ROUNDS")
  (while (not (and (hive-sidecar-connected-p) (hive-model-complete-p)
                   (get-buffer "*hive*")))
    (accept-process-output nil 0.1))
  (bench-ask (string-to-number (getenv "BENCH_ROUNDS"))))

(let ((parent (string-to-number (getenv "BENCH_PARENT"))))
  (while (eq 0 (signal-process parent 0))
    (accept-process-output nil 0.5)))

;;; row.el ends here
