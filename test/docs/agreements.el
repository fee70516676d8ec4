;;; agreements.el --- What Emacs has, for agreements.test.ts  -*- lexical-binding: t; -*-

;;; Code:

(require 'cl-lib)

(defun agreements-program ()
  "Return what Emacs has loaded of Hive, functions and values, as one string."
  (let (printed)
    (mapatoms (lambda (symbol)
                (when (string-prefix-p "hive-" (symbol-name symbol))
                  (when (fboundp symbol) (push (prin1-to-string (symbol-function symbol)) printed))
                  (when (boundp symbol) (push (prin1-to-string (symbol-value symbol)) printed)))))
    (mapconcat #'identity printed "\n")))

(defun agreements-plist-fields (type)
  "Return the names of the fields that the plist in TYPE, of customize, offers."
  (pcase type
    (`(plist . ,rest) (mapcar (lambda (option) (substring (symbol-name (car option)) 1))
                              (plist-get rest :options)))
    ((pred consp) (cl-mapcan #'agreements-plist-fields (cdr type)))))

(defun agreements-setting (name)
  "Return what is sent for each value that NAME may have in `hive-settings'."
  (pcase-let* ((key (intern name))
               (`(,_scope ,_meaning ,kind ,words . ,_) (alist-get key hive-attention-settings))
               (values (append words (pcase kind
                                       ('yes-no '(t nil))
                                       ((or 'whole-number 'word-or-number) '(7))
                                       ('hours '("22:00-07:30"))))))
    (vconcat (mapcar (lambda (value) (hive-attention--parameters (list (cons key value)))) values))))

;; Many at once, each on a line of its own: one by one takes ten times as long.
(defun agreements-hidden ()
  "Return the characters of Unicode that Emacs shows as others.
They are a list of the first and the last of each run, one after the other."
  (let ((before nil) (found nil) (first 0))
    (while (< first #x110000)
      (let* ((chars (remq ?\n (number-sequence first (min #x10FFFF (+ first #xFFF)))))
             (lines (split-string (hive-text-inert (mapconcat #'string chars "\n")) "\n")))
        (cl-assert (= (length chars) (length lines)))
        (cl-mapc (lambda (char line)
                   (let ((hidden (not (equal (string char) line))))
                     (unless (eq hidden before)
                       (push (if hidden char (1- char)) found)
                       (setq before hidden))))
                 chars lines))
      (setq first (+ first #x1000)))
    (when before (push #x10FFFF found))
    (vconcat (nreverse (if (= -1 (car (last found))) (butlast found) found)))))

(provide 'agreements)
;;; agreements.el ends here
