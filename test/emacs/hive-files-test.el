;;; hive-files-test.el --- Opening files with text from agents  -*- lexical-binding: t; -*-

;;; Code:

(require 'hive-test-help)

(require 'hive-history)
(require 'hive-shared)
(require 'org)

(defvar hive-files-test-ran nil "What text from an agent has run.")

(defun hive-files-test-form (name)
  "Return Lisp that records that it ran as NAME."
  (format "(push \"%s\" hive-files-test-ran)" name))

(defun hive-files-test-command ()
  "Record that a link ran a command.
Unlike a form, a command runs also behind a space: \"elisp: NAME\"."
  (interactive)
  (push "command" hive-files-test-ran))

(defun hive-files-test-hostile ()
  "Return a text with everything in a file that Emacs might execute."
  (concat "-*- eval: " (hive-files-test-form "mode-line") " -*-\n"
          "[[elisp:" (hive-files-test-form "link") "][look]] <elisp:" (hive-files-test-form "angle")
          "> elisp:" (hive-files-test-form "plain") "\n"
          "<elisp:hive-files-test-command>\n"
          "#+BEGIN_SRC emacs-lisp\n" (hive-files-test-form "block") "\n#+END_SRC\n"
          "Local Variables:\neval: " (hive-files-test-form "variables") "\nfill-column: 3\nEnd:"))

(defun hive-files-test-open (file)
  "Open FILE with each setting for local variables, and follow every link."
  (dolist (enable '(t :all :safe))
    (let ((enable-local-variables enable) (enable-local-eval t)
          (org-link-elisp-confirm-function nil) (org-link-shell-confirm-function nil)
         )
      (cl-letf (((symbol-function 'hack-local-variables-confirm) (lambda (&rest _) t))
                ;; If an entry has several links, open all of them.
                ((symbol-function 'read-char-exclusive) (lambda (&rest _) ?\C-m)))
        (with-current-buffer (find-file-noselect file)
          (unwind-protect
              (progn
                (when (and (local-variable-p 'fill-column) (= 3 fill-column))
                  (push "fill-column" hive-files-test-ran))
                (when (derived-mode-p 'org-mode)
                  (font-lock-ensure)
                  (goto-char (point-min))
                  (while (not (eobp))
                    (ignore-errors (save-excursion (org-open-at-point)))
                    (forward-char 1))))
            (set-buffer-modified-p nil)
            (kill-buffer)))))))

(defmacro hive-files-test-file (extension text &rest body)
  "Open a file with EXTENSION and TEXT, then run BODY."
  (declare (indent 2))
  `(let ((file (make-temp-file "hive-files" nil ,extension)) (hive-files-test-ran nil))
     (unwind-protect
         (progn (write-region ,text nil file nil 'quiet)
                (hive-files-test-open file)
                ,@body)
       (delete-file file))))

(defun hive-files-test-entries ()
  "Return hostile entries of the history; the text may also begin with a link."
  (let ((hostile (hive-files-test-hostile)))
    (mapcar (lambda (text)
              (list :kind "question" :id "a" :at "2026-01-01T00:00:00.000Z" :text text
                    :agent "-*-x" :source "main" :decision hostile :by "elisp:(x)"))
            (list hostile
                  (concat "[[elisp:" (hive-files-test-form "title") "]]")
                  (concat "elisp:" (hive-files-test-form "plain-title"))
                  (concat "<elisp:" (hive-files-test-form "angle-title") ">")
                  "<elisp:hive-files-test-command>"
                  hostile))))

(ert-deftest hive-files-the-attacks-work-in-an-ordinary-file ()
  (hive-files-test-file ".txt" (hive-files-test-hostile)
    (should hive-files-test-ran)))

(ert-deftest hive-files-an-export-does-nothing-when-it-is-opened ()
  (dolist (org '(t nil))
    (let ((text (hive-history-export-text (hive-files-test-entries) org)))
      (should (string-match-p "fill-column: 3" text)) ; it stays readable
      (hive-files-test-file (if org ".org" ".md") text
        (should-not hive-files-test-ran)))))

(ert-deftest hive-files-a-saved-shared-buffer-does-nothing-and-reads-back ()
  (with-temp-buffer
    (setq-local hive-shared-place (list :project "demo"))
    (let* ((body (hive-files-test-hostile))
           (hive-shared-messages
            (list (list :at "2026-01-01T00:00:00.000Z" :from_handle "Claude-abc12" :body body)))
           (text (hive-shared-file-text)))
      (should (equal (list body)
                     (mapcar (lambda (block) (plist-get block :body)) (hive-format-parse text))))
      (hive-files-test-file ".md" text
        (should-not hive-files-test-ran)))))

(provide 'hive-files-test)
;;; hive-files-test.el ends here
