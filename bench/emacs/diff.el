;;; diff.el --- How long the diff of a file of 5,000 lines holds Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/emacs.ts.  BENCH_CONTEXT is a file with the
;; context of a permission; its buffer is printed BENCH_ROUNDS times.  Prints an
;; array of one array of milliseconds.

;;; Code:

(load (expand-file-name "desk" (file-name-directory load-file-name)) nil t)
(require 'hive-prompt)
(require 'diff-mode)

(let ((prompt (list :ask_id "ask-1" :kind "permission" :dialog t :status "pending" :agent "Claude-abc12"
                    :digest "d" :question "Change /src/values.ts?" :options [(:label "Allow") (:label "Deny")]
                    :context (with-temp-buffer
                               (insert-file-contents (getenv "BENCH_CONTEXT"))
                               (buffer-string))))
      took)
  (with-temp-buffer
    (hive-prompt-mode)
    (setq hive-prompt--prompt prompt)
    (dotimes (_ (string-to-number (getenv "BENCH_ROUNDS")))
      (garbage-collect)
      (push (bench-time #'hive-prompt--print) took))
    (goto-char (point-min))
    (unless (re-search-forward "^@@" nil t) (error "No diff was shown")))
  (princ (json-serialize (vector (vconcat took)))))

;;; diff.el ends here
