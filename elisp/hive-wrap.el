;;; hive-wrap.el --- Long lines in narrow windows  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Assisted-by: generative AI

;;; Commentary:

;; Lines of agents have any length and windows any width: they are wrapped
;; between words, and what is continued is indented like its line.  The text
;; itself is left as it is.

;;; Code:

(defconst hive-wrap--deepest 16 "Columns of indentation that are kept at most.")

(defconst hive-wrap--right-to-left "[\u0590-\u08FF\uFB1D-\uFDFF\uFE70-\uFEFC]")

(defconst hive-wrap--longest 500
  "Characters of a line from right to left that is still wrapped between words.
Emacs looks for the place in a time that grows with their square: 0.1 s
for 1,000, 3 s for 8,000.")

(defun hive-wrap-words ()
  "Wrap the lines of this buffer between words, in windows of any width."
  (setq-local truncate-lines nil
              truncate-partial-width-windows nil
              word-wrap t))

(defun hive-wrap-heed (beg end)
  "Wrap anywhere from now on if a line between BEG and END would take Emacs long."
  (save-excursion
    (goto-char beg)
    (while (and word-wrap (< (point) end))
      (when (and (> (- (line-end-position) (point)) hive-wrap--longest)
                 (save-excursion
                   (re-search-forward hive-wrap--right-to-left (line-end-position) t)))
        (setq-local word-wrap nil))
      (forward-line 1))))

(defun hive-wrap-like-lines (beg end)
  "Let what is continued of a line between BEG and END be indented like it.
A number that stands first belongs to the indentation."
  (hive-wrap-heed beg end)
  (save-excursion
    (goto-char beg)
    (while (< (point) end)
      (when (looking-at " *\\(?:[0-9] +\\)?")
        (let ((columns (min hive-wrap--deepest (- (match-end 0) (match-beginning 0)))))
          (when (> columns 0)
            (put-text-property (point) (line-end-position) 'wrap-prefix
                               (make-string columns ?\s)))))
      (forward-line 1))))

(defun hive-wrap-room ()
  "Return how many columns fit in the narrowest window of this buffer, or nil."
  (let ((windows (get-buffer-window-list nil nil t)))
    (when windows (apply #'min (mapcar #'window-max-chars-per-line windows)))))

(provide 'hive-wrap)
;;; hive-wrap.el ends here
