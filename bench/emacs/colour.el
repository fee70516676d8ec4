;;; colour.el --- How long hostile text holds Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run in batch by bench/rows/emacs.ts.  Each hostile text of 64 KB of
;; test/emacs/hive-prompt-colour-test.el, and words of mixed scripts, are made
;; inert, coloured and searched for addresses BENCH_ROUNDS times, as the context
;; of a question is.
;; Prints an array of one array of milliseconds.

;;; Code:

(load (expand-file-name "desk" (file-name-directory load-file-name)) nil t)
(load (expand-file-name "../../test/emacs/hive-prompt-colour-test"
                        (file-name-directory load-file-name))
      nil t)

(let ((texts (append hive-prompt-colour-hostile
                     ;; 64 KB of UTF-8.
                     (mapcar (lambda (text) (apply #'concat (make-list (/ 65000 (string-bytes text)) text)))
                             '("a\u0430" "a\u0430 " "\u0430 " "\u200B"))))
      took)
  (dotimes (_ (string-to-number (getenv "BENCH_ROUNDS")))
    (dolist (text texts)
      (garbage-collect)
      (push (bench-time (lambda ()
                          (with-temp-buffer
                            (hive-markdown-insert (hive-text-inert text) 79)
                            (hive-links-activate (point-min) (point-max)))))
            took)))
  (princ (json-serialize (vector (vconcat took)))))

;;; colour.el ends here
