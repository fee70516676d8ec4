;;; hive-shared-format-test.el --- Messages as text  -*- lexical-binding: t; -*-

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-shared-text)
(require 'hive-test-help)

(defconst hive-format-test-head "## 2026-01-11 18:00:00 Claude-abc12")

(defun hive-format-test-parse (text)
  "Return the blocks in TEXT as lists of stamp, handle and body."
  (mapcar (lambda (block)
            (list (plist-get block :stamp) (plist-get block :handle)
                  (plist-get block :body)))
          (hive-format-parse text)))

(defconst hive-format-test-table
  (let ((one '("2026-01-11 18:00:00" "Claude-abc12" "hello"))
        (head hive-format-test-head))
    `(("a block" ,(concat head "\n\nhello\n") ,one)
      ("without the blank line" ,(concat head "\nhello") ,one)
      ("CRLF" ,(concat head "\r\n\r\nhello\r\n") ,one)
      ("old line ends" ,(concat head "\r\rhello\r") ,one)
      ("more blank lines" ,(concat head "\n \n\n\t\n\nhello \n\n \n") ,one)
      ("text before it" ,(concat "---\nhive: true\n---\n\n# Shared Buffer\n\n" head "\n\nhello\n") ,one)
      ("the body behind the handle" ,(concat head " hello\n") ,one)
      ("the heading alone" ,head)
      ("the heading and blanks" ,(concat head "\n\n \n"))
      ("half a heading" "## 2026-01-11 18:00 Claude-abc12\n\nhello\n")
      ("no handle" "## 2026-01-11 18:00:00\n\nhello\n")
      ("not at the beginning of a line" ,(concat "> " head "\n\nhello\n"))
      ("another level" ,(concat "#" head "\n\nhello\n"))
      ("two" ,(concat head "\n\nhello\n\n## 2026-01-11 18:05:00 Ünï-码\n\nyes\nno\n")
       ,one ("2026-01-11 18:05:00" "Ünï-码" "yes\nno"))
      ("a heading without a body before another" ,(concat head "\n\n" head "\n\nhello\n") ,one)
      ("an escaped heading in a body" ,(concat head "\n\nhello\n\\" head "\n")
       ("2026-01-11 18:00:00" "Claude-abc12" ,(concat "hello\n" head)))
      ("an indented body keeps its indentation" ,(concat head "\n\n    code\n")
       ("2026-01-11 18:00:00" "Claude-abc12" "    code"))))
  "The name of a case, its text, and the blocks in it.")

(ert-deftest hive-format/table ()
  (pcase-dolist (`(,name ,text . ,blocks) hive-format-test-table)
    (ert-info (name)
      (should (equal (hive-format-test-parse text) blocks)))))

(ert-deftest hive-format/gives-the-position-of-a-block ()
  (let* ((text (concat "junk\n" hive-format-test-head "\n\none\n\n"
                       hive-format-test-head "\n\ntwo\n"))
         (blocks (hive-format-parse text)))
    (should (equal (mapcar (lambda (block)
                             (substring text (plist-get block :beg) (plist-get block :end)))
                           blocks)
                   (list (concat hive-format-test-head "\n\none\n\n")
                         (concat hive-format-test-head "\n\ntwo\n"))))))

(ert-deftest hive-format/parsing-what-was-rendered-gives-the-same ()
  (random "render and parse")
  (let ((lines (vector "" "hello" hive-format-test-head (concat "\\" hive-format-test-head)
                       (concat "\\\\" hive-format-test-head) "## a title" "@Human" "    indented"
                       "```" "---" "\\" "日本語 @Claude-1" "# Shared Buffer")))
    (dotimes (_ 500)
      (let* ((blocks
              (cl-loop repeat (1+ (random 4))
                       for body = (hive-format-normalize
                                   (mapconcat (lambda (_) (aref lines (random (length lines))))
                                              (make-list (1+ (random 6)) nil) "\n"))
                       unless (string-empty-p body)
                       collect (list "2026-01-11 18:00:00" "Claude-abc12" body)))
             (text (concat (hive-format-front "2026-01-11 18:00:00" "demo")
                           (mapconcat (lambda (block) (apply #'hive-format-block block))
                                      blocks "\n"))))
        (should (equal (hive-format-test-parse text) blocks))))))

(ert-deftest hive-format/a-long-blank-tail-costs-little ()
  (dolist (case (list (cons (lambda (size) (concat "x" (make-string size ?\s))) "x")
                      (cons (lambda (size) (concat (make-string size ?\n) "x")) "x")
                      (cons (lambda (size) (make-string size ?\n)) "")))
    (should (equal (hive-format-normalize (funcall (car case) 30000)) (cdr case)))
    (hive-test-linear (lambda (size) (hive-format-normalize (funcall (car case) size))) 1000)))

(provide 'hive-shared-format-test)
;;; hive-shared-format-test.el ends here
