;;; hive-files-test.el --- Opening files with text from agents  -*- lexical-binding: t; -*-

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

;;;; Written from our buffers by the commands of Emacs

(defconst hive-files-test-modes
  '(hive-batch-mode hive-check-mentions-mode hive-compose-mode hive-doctor-mode
    hive-history-mode hive-list-mode hive-outreach-mode hive-phone-list-mode hive-phone-mode
    hive-prompt-mode hive-rule-mode hive-rules-mode hive-shared-mode
    hive-stats-mode)
  "Every mode of a buffer of ours.")

(defun hive-files-test-write (mode file how)
  "Write a buffer in MODE with hostile text to FILE, as HOW says."
  (with-temp-buffer
    (funcall mode)
    (let ((inhibit-read-only t) (inhibit-modification-hooks t) (before major-mode))
      (erase-buffer)
      (insert (hive-files-test-hostile))
      (cl-letf (((symbol-function 'hack-local-variables-confirm) (lambda (&rest _) t)))
        (pcase how
          ('write-file (write-file file))
          ('append-to-file (append-to-file (point-min) (point-max) file))
          ('region (write-region (point-min) (point-max) file nil 'quiet))
          ('all (write-region nil nil file nil 'quiet))))
      (should (eq before major-mode))
      (should-not (equal 3 (buffer-local-value 'fill-column (current-buffer))))
      (set-buffer-modified-p nil))))

(defun hive-files-test-every-mode ()
  "Return the modes of this package, as its files define them."
  (let (modes)
    (dolist (file (directory-files (file-name-directory (locate-library "hive-shared")) t
                                   "\\`hive-.*\\.el\\'"))
      (with-temp-buffer
        (insert-file-contents file)
        (while (re-search-forward "^(define-derived-mode \\(hive-[a-z-]+\\) " nil t)
          (push (intern (match-string 1)) modes))))
    (sort modes #'string<)))

(ert-deftest hive-files-every-mode-is-tested ()
  (should (equal hive-files-test-modes (hive-files-test-every-mode))))

(ert-deftest hive-files-what-emacs-writes-of-a-buffer-of-ours-does-nothing-when-it-is-opened ()
  (require 'hive-mode)
  (dolist (feature '(hive-batch hive-mentions hive-compose hive-doctor hive-list hive-outreach
                     hive-phone hive-prompt hive-rules hive-sessions hive-stats))
    (require feature))
  (dolist (mode hive-files-test-modes)
    (dolist (how (if (eq mode 'hive-shared-mode)
                     '(write-file append-to-file region all)
                   '(write-file)))
      (dolist (extension (if (eq mode 'hive-shared-mode) '("" ".md" ".org" ".el" ".html") '(".md")))
        (let ((file (make-temp-name (expand-file-name "hive-files" temporary-file-directory)))
              (hive-files-test-ran nil) (make-backup-files nil))
          (setq file (concat file extension))
          (unwind-protect
              (progn
                (hive-files-test-write mode file how)
                (should-not hive-files-test-ran)
                (hive-files-test-open file)
                (should-not (and hive-files-test-ran (list mode how extension hive-files-test-ran)))
                ;; It can be read all the same.
                (with-temp-buffer
                  (insert-file-contents file)
                  (should (search-forward "fill-column: 3" nil t))))
            (ignore-errors (delete-file file))))))))
