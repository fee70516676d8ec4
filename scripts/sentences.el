;;; sentences.el --- Print what Hive says in Emacs  -*- lexical-binding: t; -*-

;;; Commentary:

;; Run from the root of the project, to read all sentences as a whole:
;;
;;     emacs -Q --batch -l scripts/sentences.el
;;
;; Each follows its file and line.  Labels in the tables of menus are not
;; included, because a menu shows those.

;;; Code:

(require 'cl-lib)

(defconst sentences-functions '("hive-words" "hive-say" "hive-announce" "hive-announcing" "hive-fail")
  "The functions whose first argument is a sentence.
So is the argument FAILURE of `hive-rpc-fetch'.")

(defun sentences-of (form)
  "Return the strings that FORM, the first argument of such a function, can be."
  (pcase form
    ((pred stringp) (list form))
    (`(if ,_ . ,branches) (cl-mapcan #'sentences-of branches))
    (`(pcase ,_ . ,cases) (cl-mapcan (lambda (one) (sentences-of (car (last one)))) cases))))

(defun sentences-in (file)
  "Return what FILE says: conses of a line number and a sentence."
  (let ((found nil))
    (with-temp-buffer
      (insert-file-contents file)
      (set-syntax-table emacs-lisp-mode-syntax-table)
      (while (re-search-forward (concat "\\(?:(" (regexp-opt sentences-functions) "\\|:failure\\)[ \n]") nil t)
        (let ((line (line-number-at-pos (match-beginning 0)))
              (state (save-excursion (syntax-ppss (match-beginning 0)))))
          (unless (or (nth 3 state) (nth 4 state))
            (dolist (sentence (sentences-of (save-excursion (read (current-buffer)))))
              (push (cons line sentence) found))))))
    (nreverse found)))

(when noninteractive
  (unless (featurep 'ert)
    (dolist (file (directory-files "elisp" t "\\.el\\'"))
      (dolist (sentence (sentences-in file))
        (princ (format "%s:%d: %S\n" (file-name-nondirectory file) (car sentence) (cdr sentence)))))
    (load (expand-file-name "elisp/hive-messages.el") nil t)
    (dolist (sentence (symbol-value 'hive-messages))
      (princ (format "%s: %S\n" (car sentence) (cdr sentence))))))

(provide 'sentences)
;;; sentences.el ends here
