;;; hive-diff-test.el --- Diffs in the context of a question  -*- lexical-binding: t; -*-

;; Tags: as-displayed untrusted

(require 'ediff)
(require 'hive-prompt)
(require 'hive-test-help)

(defconst hive-diff-test-hunk
  "@@ -3,5 +3,6 @@\n c\n-d\n+D\n+DD\n e\n f\n g\n"
  "A hunk for a file that has the letters from a on as its lines.")

(defun hive-diff-test-diff (file &optional old)
  "Return a diff of FILE, whose old name is OLD."
  (format "--- %s\n+++ %s\n%s" (or old file) file hive-diff-test-hunk))

(defmacro hive-diff-test-shown (context &rest body)
  "Run BODY in the buffer of a permission with CONTEXT."
  (declare (indent 1))
  `(with-temp-buffer
     (hive-prompt-mode)
     (setq hive-prompt--prompt (hive-test-prompt :kind "permission" :dialog t :context ,context
                                                 :options [(:label "Allow") (:label "Deny")]))
     (hive-prompt--print)
     (goto-char (point-min))
     ,@body))

(defmacro hive-diff-test-with-file (&rest body)
  "Run BODY with `file', a file with the letters from a to i as its lines."
  (declare (indent 0))
  `(let ((file (make-temp-file "hive-diff")))
     (unwind-protect
         (progn
           (write-region "a\nb\nc\nd\ne\nf\ng\nh\ni\n" nil file nil 'quiet)
           ,@body)
       (delete-file file))))

(defun hive-diff-test-at (text)
  "Go to the line TEXT and return its face and what is beside it."
  (goto-char (point-min))
  (re-search-forward (concat "^" (regexp-quote text) "$"))
  (beginning-of-line)
  (let ((beside (get-text-property (point) 'line-prefix)))
    (list (get-text-property (point) 'face)
          (and beside (split-string beside " " t)))))

;;;; Showing

(ert-deftest hive-diff-has-the-faces-of-diff-mode-and-line-numbers ()
  (hive-diff-test-shown (hive-diff-test-diff "/src/a")
    (should (equal '(bold nil) (hive-diff-test-at "--- /src/a")))
    (should (equal '(hive-diff-hunk nil) (hive-diff-test-at "@@ -3,5 +3,6 @@")))
    (should (equal '(diff-context ("3" "3")) (hive-diff-test-at " c")))
    (should (equal '(diff-removed ("4")) (hive-diff-test-at "-d")))
    (should (equal '(diff-added ("5")) (hive-diff-test-at "+DD")))
    (should (equal '(diff-context ("7" "8")) (hive-diff-test-at " g")))))

(ert-deftest hive-diff-is-found-in-and-between-prose-and-blocks ()
  (let ((diff (hive-diff-test-diff "a")))
    (dolist (context (list (concat "Look:\n\n" diff "\nGood?")
                           (concat "Look:\n```diff\n" diff "```\nGood `x`?")
                           (concat "~~~ patch\n" hive-diff-test-hunk "~~~\n")
                           (concat "```diff\n" hive-diff-test-hunk)))
      (hive-diff-test-shown context
        (should (equal '(diff-removed ("4")) (hive-diff-test-at "-d")))
        (should (equal '(diff-context ("6" "7")) (hive-diff-test-at " f"))))))
  (hive-diff-test-shown "```diff\n+new\n-old\n same\n```\nafter `x`\n"
    (should (eq 'diff-added (car (hive-diff-test-at "+new"))))
    (should (eq 'diff-removed (car (hive-diff-test-at "-old"))))
    (search-forward "`x")
    (should (eq 'hive-prompt-code (get-text-property (1- (point)) 'face)))))

(ert-deftest hive-diff-a-list-and-a-rule-are-no-diff ()
  (hive-diff-test-shown "- one\n- two\n\n--- \n+++\n@@ home\n--- a\ntext\n"
    (should-not (text-property-not-all (point-min) (point-max) 'hive-diff nil))))

(ert-deftest hive-diff-lines-count-not-how-they-look ()
  "A removed line that looks like the name of a file is a removed line."
  (hive-diff-test-shown "--- a\n+++ a\n@@ -1,2 +1,2 @@\n--- /etc/passwd\n+++ /etc/passwd\n x\nTool: Edit\n"
    (should (equal '(diff-removed ("1")) (hive-diff-test-at "--- /etc/passwd")))
    (should (equal '(diff-added ("1")) (hive-diff-test-at "+++ /etc/passwd")))
    (should (equal '(nil nil) (hive-diff-test-at "Tool: Edit")))))

(ert-deftest hive-diff-wrong-counts-end-the-hunk ()
  (hive-diff-test-shown "@@ -1,900 +1,900 @@\n-a\n+b\nTool: Edit\n"
    (should (equal '(nil nil) (hive-diff-test-at "Tool: Edit")))))

(ert-deftest hive-diff-shows-all-of-the-text ()
  (let ((context (concat (hive-diff-test-diff "/src/a") "\\ No newline at end of file\n\nTool: Edit")))
    (hive-diff-test-shown context
      (should (string-match-p (regexp-quote context) (buffer-substring-no-properties (point-min) (point-max))))
      (should-not (text-property-not-all (point-min) (point-max) 'invisible nil))
      (should-not (text-property-not-all (point-min) (point-max) 'display nil)))))

(ert-deftest hive-diff-hostile-text-costs-a-bounded-number-of-pieces ()
  (dolist (part '("@@ -1 +1 @@\n" "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n" "@@ -1,9999 +1,9999 @@\n+a\n-b\n"
                  "```diff\n+a\n-b\n" "--- a\n" "@@ -1,99999999999999999999 +1 @@\n" "\n"))
    (let* ((text (apply #'concat (make-list (/ 65000 (length part)) part)))
           (coloured (with-temp-buffer (hive-markdown-insert text) (buffer-string))) (position 0) (runs 0))
      (should (equal text (substring-no-properties coloured)))
      (while (setq position (next-single-property-change position 'face coloured))
        (setq runs (1+ runs)))
      (should (<= runs 2001)))))

(ert-deftest hive-diff-where-a-key-answers-the-diff-has-its-colours ()
  (let* ((context "--- a\n+++ a\n@@ -1,3 +1,3 @@\n-x\n+y\n \n z\n\nTool: Edit")
         (text (hive-read-below (hive-test-prompt :kind "permission" :context context))))
    ;; An empty line of a file is one of its lines.
    (should (equal text "  --- a\n  +++ a\n  @@ -1,3 +1,3 @@\n  -x\n  +y\n   \n   z\n  Tool: Edit\n"))
    (should (eq 'diff-removed (get-text-property (string-search "-x" text) 'face text)))
    (should-not (text-property-not-all 0 (length text) 'line-prefix nil text))))

(ert-deftest hive-diff-keeps-its-indentation-where-only-its-beginning-is-shown ()
  (let ((context (concat "--- a\n+++ a\n@@ -1,2 +1,2 @@\n-    return x\n+        return x\n z\n"
                         (make-string 20 ?\n) "Tool: Edit")))
    (should (string-search "\n  -    return x\n  +        return x\n"
                           (hive-read-below (hive-test-prompt :kind "permission" :context context) 80)))))

;;;; Moving and visiting

(ert-deftest hive-diff-moves-from-hunk-to-hunk ()
  (hive-diff-test-shown (concat (hive-diff-test-diff "/src/a") (hive-diff-test-diff "/src/b"))
    (should (hive-diff-next))
    (should (looking-at-p "@@"))
    (let ((first (point)))
      (should (hive-diff-next))
      (should (> (point) first))
      (should-not (hive-diff-next))
      (should (hive-diff-next 'back))
      (should (= (point) first))
      (should-not (hive-diff-next 'back)))))

(ert-deftest hive-diff-visits-the-line-of-the-file ()
  (hive-diff-test-with-file
    (save-window-excursion
      (hive-diff-test-shown (hive-diff-test-diff file)
        (dolist (case '((" c" . 3) ("+DD" . 5) (" g" . 8)))
          (hive-diff-test-at (car case))
          (with-current-buffer (save-current-buffer (hive-diff-visit) (current-buffer))
            (should (equal file buffer-file-name))
            (should (= (cdr case) (line-number-at-pos)))))
        (kill-buffer (get-file-buffer file))))))

(ert-deftest hive-diff-next-error-visits-the-hunks-in-turn ()
  (hive-diff-test-with-file
    (save-window-excursion
      (hive-diff-test-shown (concat (hive-diff-test-diff file) "@@ -8,2 +9,2 @@\n h\n-i\n+I\n")
        (cl-flet ((visited (count reset)
                    (with-current-buffer (save-current-buffer (funcall next-error-function count reset)
                                                              (current-buffer))
                      (should (equal file buffer-file-name))
                      (line-number-at-pos))))
          (should (= 3 (visited 1 t)))
          (should (= 9 (visited 1 nil)))
          (should-error (visited 1 nil) :type 'user-error)
          (should (= 3 (visited -1 nil)))
          (should (= 9 (visited 2 t))))
        (kill-buffer (get-file-buffer file))))))

(ert-deftest hive-diff-a-relative-name-belongs-to-the-directory-of-the-tool ()
  (hive-diff-test-with-file
    (let ((name (file-name-nondirectory file)) visited)
      (cl-letf (((symbol-function 'find-file-other-window) (lambda (file) (push file visited))))
        (hive-diff-test-shown (format "%s\nTool: apply_patch\nDirectory: %s" (hive-diff-test-diff name)
                                      (directory-file-name (file-name-directory file)))
          (hive-diff-test-at (concat "+++ " name))
          (hive-diff-visit)
          (should (equal (list file) visited)))))))

(ert-deftest hive-diff-visits-nothing-on-another-machine ()
  (hive-diff-test-shown (hive-diff-test-diff "/ssh:evil.example:/x")
    (hive-diff-test-at " c")
    (cl-letf (((symbol-function 'find-file-other-window) (lambda (_) (ert-fail "It was visited"))))
      (should-error (hive-diff-visit) :type 'user-error)
      (should-error (hive-diff-ediff) :type 'user-error))))

;;;; Ediff

(defun hive-diff-test-compared ()
  "Return what Ediff gets for the diff at point."
  (let (texts)
    (cl-letf (((symbol-function 'ediff-buffers)
               (lambda (&rest buffers)
                 (setq texts (mapcar (lambda (buffer)
                                       (should (eq 'fundamental-mode (buffer-local-value 'major-mode buffer)))
                                       (prog1 (with-current-buffer buffer (buffer-string))
                                         (kill-buffer buffer)))
                                     (seq-take buffers 2))))))
      (hive-diff-ediff))
    texts))

(ert-deftest hive-diff-ediff-compares-the-file-with-what-it-would-become ()
  (hive-diff-test-with-file
    (hive-diff-test-shown (hive-diff-test-diff file)
      (hive-diff-test-at "+DD")
      (should (equal '("a\nb\nc\nd\ne\nf\ng\nh\ni\n" "a\nb\nc\nD\nDD\ne\nf\ng\nh\ni\n")
                     (hive-diff-test-compared)))
      (write-region "a\nb\nc\nother\n" nil file nil 'quiet)
      (should-error (hive-diff-ediff) :type 'user-error))))

(ert-deftest hive-diff-ediff-of-a-new-file-and-of-two-texts ()
  (hive-diff-test-shown "--- /dev/null\n+++ /nowhere/x\n@@ -0,0 +1,2 @@\n+a\n+b\n"
    (hive-diff-test-at "+b")
    (should (equal '("" "a\nb") (hive-diff-test-compared))))
  (hive-diff-test-shown "--- /x\tthis text\n+++ /x\tbecomes this\n@@ -1,2 +1,2 @@\n \n-b\n+c\n"
    (hive-diff-test-at "+c")
    (should (equal '("\nb" "\nc") (hive-diff-test-compared)))))

(ert-deftest hive-diff-what-ediff-writes-is-inert-and-has-the-lines-of-the-text ()
  (let ((file (make-temp-file "hive-test"))
        (buffer (hive-diff--buffer "after" "x" '("-*- mode: sh; eval: (evil) -*-" "b" "c"))))
    (unwind-protect
        (with-temp-buffer
          (with-current-buffer buffer (write-region (point-min) (point-max) file nil 'quiet))
          (insert-file-contents file)
          (should (equal '("b" "c") (seq-take (cdr (split-string (buffer-string) "\n")) 2)))
          (should (looking-at-p "Saved from Hive.* -\\*- mode: text -\\*- .*evil"))
          (should-not (assq 'eval (hack-local-variables-prop-line))))
      (delete-file file)
      (kill-buffer buffer))))
