;;; hive-prompt-colour-test.el --- Colouring hostile text  -*- lexical-binding: t; -*-

;; Tags: untrusted

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-compose)
(require 'hive-links)
(require 'hive-markdown)
(require 'hive-next)
(require 'hive-shared)

(defconst hive-prompt-colour-hostile
  (let ((many (lambda (text) (apply #'concat (make-list (/ 65000 (length text)) text)))))
    (list (funcall many "[") (funcall many "`") (funcall many "*") (funcall many "_")
          (funcall many "#") (funcall many "~") (funcall many "``` x\n") (funcall many "````\n```\n")
          (funcall many "`a`") (funcall many "`a") (funcall many "# h\n") (funcall many "\n")
          (funcall many "[a](") (funcall many "> ") (funcall many "- ") (funcall many "\\")
          (funcall many "```\n~~~\n") (funcall many "<a ") (funcall many "| a ")
          (funcall many "https://") (funcall many "https://a.b ") (funcall many "[a](https://b.c) ")
          (funcall many "https://a.b/a\u0430") (funcall many "https://a.b/'") (funcall many "https://a.b/)")
          (funcall many (concat "https://" (make-string 60 ?\u0436) ".com "))
          (funcall many "|-|\n") (funcall many "|a|\n|-|\n|b|\n\n") (funcall many "|\u65E5|\n|-|\n|b|\n\n")
          (concat "|a|\n" (funcall many "|-")) (concat "|a|\n|" (make-string 65000 ?-))
          (funcall many "| a | b |\n|---|---|\n") (funcall many (concat "|" (make-string 290 ?-) "|\n"))
          (concat "`" (make-string 65000 ?a)) (concat (make-string 30000 ?`) "\n" (make-string 30000 ?`))))
  "Texts of 64 KB that make parsers of Markdown slow.")

(defun hive-prompt-colour-of (text &optional room)
  "Return TEXT as `hive-markdown-insert' inserts it with ROOM."
  (with-temp-buffer
    (hive-markdown-insert text room)
    (buffer-string)))

(defun hive-prompt-colour-runs (text)
  "Return how many stretches of TEXT have a face."
  (let ((position 0) (runs 0))
    (while (< position (length text))
      (when (get-text-property position 'face text) (setq runs (1+ runs)))
      (setq position (or (next-single-property-change position 'face text) (length text))))
    runs))

(defun hive-prompt-colour-without-blanks (text)
  "Return TEXT without the blanks and dashes that align a table."
  (string-replace " " "" (string-replace "-" "" (substring-no-properties text))))

(ert-deftest hive-prompt-colours-code-blocks-and-headings ()
  (let ((text (hive-prompt-colour-of "# Why\nsee `x` and\n```sh\n# no\n`y`\n```\nend")))
    (cl-flet ((face (what) (get-text-property (string-search what text) 'face text)))
      (should (eq 'hive-prompt-heading (face "Why")))
      (should (eq 'hive-prompt-code (face "x")))
      (should (eq 'hive-prompt-code (face "# no")))
      (should-not (face "see"))
      (should-not (face "end")))
    (should (= 3 (hive-prompt-colour-runs text)))))

(ert-deftest hive-prompt-a-block-without-an-end-goes-to-the-end ()
  (let ((text (hive-prompt-colour-of "a\n```\nb")))
    (should (eq 'hive-prompt-code (get-text-property (1- (length text)) 'face text)))))

(ert-deftest hive-prompt-colouring-hostile-text-is-linear-and-bounded ()
  (dolist (hostile hive-prompt-colour-hostile)
    (let ((looks 0) (passed 0) (text nil))
      ;; Count how often it looks, and how much text its searches pass.
      (cl-letf* ((counted (lambda (function)
                            (lambda (what bound &rest rest)
                              (let ((begin (point)))
                                (setq looks (1+ looks))
                                (prog1 (apply function what bound rest)
                                  (setq passed (+ passed (- (point) begin))))))))
                 (look (symbol-function 'looking-at))
                 ((symbol-function 're-search-forward)
                  (funcall counted (symbol-function 're-search-forward)))
                 ((symbol-function 'search-forward)
                  (funcall counted (symbol-function 'search-forward)))
                 ((symbol-function 'looking-at)
                  (lambda (&rest args) (setq looks (1+ looks)) (apply look args))))
        (setq text (hive-prompt-colour-of hostile 79)))
      (should (or (equal hostile (substring-no-properties text))
                  (equal (hive-prompt-colour-without-blanks hostile) (hive-prompt-colour-without-blanks text))))
      (should (<= (hive-prompt-colour-runs text) hive-markdown--most-colours))
      (should (<= looks (+ (* 4 (cl-count ?\n hostile)) 3 hive-markdown--most-colours)))
      (should (<= passed (* 2 (length hostile)))))))

(ert-deftest hive-prompt-no-regexp-trims-a-long-text ()
  ;; It takes time with the square of the longest run of blanks.
  (let* ((gap (make-string 30000 ?\s)) (longest 0)
         (noting (lambda (trim)
                   (lambda (text &rest rest)
                     (setq longest (max longest (length text)))
                     (apply trim (truncate-string-to-width text 100) rest)))))
    (cl-letf (((symbol-function 'string-trim) (funcall noting (symbol-function 'string-trim)))
              ((symbol-function 'string-trim-right) (funcall noting (symbol-function 'string-trim-right))))
      (hive-prompt-colour-of (format "|a|b|\n|-|-|\n|x%sy|z|\n" gap) 79)
      (hive-read-below (list :context (concat "x" gap "y")) 80)
      (hive-compose--above (list :question "?" :context (concat "x" gap "y"))))
    (should (< longest 1000))
    (should (equal (concat "x" gap "y") (hive-text-trimmed (concat "x" gap "y \t\n"))))
    (should (equal "" (hive-text-trimmed " \n")))
    (should (string-suffix-p "| b   |" (hive-prompt-colour-of "|a|\n|-|\n|  b\t|" 79)))))

(ert-deftest hive-prompt-a-message-of-mentions-gets-a-bounded-number-of-colours ()
  (dolist (part '("@a " "@a\n" "* @x\n" "`a` @Human " "@a,@b\n\n"))
    (let* ((text (apply #'concat (make-list (/ 65000 (length part)) part)))
           (coloured (hive-shared--colour text))
           (position 0) (runs 0))
      (should (equal text (substring-no-properties coloured)))
      (while (setq position (next-single-property-change position 'font-lock-face coloured))
        (setq runs (1+ runs)))
      (should (<= 1000 runs 2001))))
  (let ((coloured (hive-shared--colour "a\n> @no\n```\n@no\n```\n`@no` @yes\n")))
    (dotimes (n (length coloured))
      (when (get-text-property n 'font-lock-face coloured)
        (should (string-match-p "\\`@yes" (substring coloured (previous-single-property-change
                                                               (1+ n) 'font-lock-face coloured))))))))

(ert-deftest hive-prompt-tables-are-aligned ()
  (cl-flet ((shown (text &optional room)
              (substring-no-properties (hive-prompt-colour-of text (or room 79)))))
    (should (equal "a\n|    n | what   |\n|------|--------|\n|    1 | ab     |\n|   22 | \u65E5\u672C   |\n| 3333 | x \\| y |\nb"
                   (shown "a\n|n|what|\n|-:|---|\n|1|ab|\n|22| \u65E5\u672C |\n|3333|x \\| y|\nb")))
    (should (equal "|  a  | b   |\n|-----|-----|\n|  x  |     |" (shown "|a|b|\n|:-:|-|\n|x|")))
    ;; No table, one wider than the room, and one in a permission stay as they are.
    (dolist (text (list "|a|\nb" "|a|b|\n|-|" "|a|\n|-|\n|b|c|" "```\n|a|\n|-|\n|b|\n```"
                        (format "|a|\n|-|\n|%s|" (make-string 76 ?x))
                        (concat "|a|\n|-|\n" (apply #'concat (make-list hive-markdown--most-cells "|b|\n")))))
      (should (equal text (shown text))))
    (should (equal 79 (length (car (split-string (shown (format "|a|\n|-|\n|%s|" (make-string 75 ?x))) "\n")))))
    (should (equal "|a|\n|-|" (substring-no-properties (hive-prompt-colour-of "|a|\n|-|"))))))

(ert-deftest hive-prompt-wide-characters-do-not-move-the-columns-of-a-table ()
  (let ((text (hive-prompt-colour-of "|a|b|\n|-|-|\n|\u65E5|`c`|\n" 79)))
    (should (equal '(space :align-to 6)
                   (get-text-property (1+ (string-search "\u65E5" text)) 'display text)))
    (should-not (get-text-property (1+ (string-search "a" text)) 'display text))
    (should (equal '(hive-prompt-code hive-prompt-table)
                   (get-text-property (string-search "`c`" text) 'face text)))))

(ert-deftest hive-prompt-no-fence-calls-a-mode ()
  (let ((called nil))
    (cl-letf (((symbol-function 'markdown-mode) (lambda () (push 'markdown called)))
              ((symbol-function 'boom-mode) (lambda () (push 'boom called)))
              ((symbol-function 'server-mode) (lambda (&rest _) (push 'server called)))
              ((symbol-function 'run-mode-hooks) (lambda (&rest _) (push 'hooks called))))
      (dolist (fence '("```" "~~~" "````"))
        (dolist (name '("boom" "server" "{boom}" " boom" "elisp"))
          (hive-prompt-colour-of (concat fence name "\n(error \"ran\")\n" fence "\n")))))
    (should-not called)))

(ert-deftest hive-prompt-coloured-text-has-faces-only ()
  (let ((text (hive-prompt-colour-of
               (propertize "# a\n`b` [c](elisp:(boom))" 'display "x" 'keymap (make-sparse-keymap)
                           'invisible t))))
    (dotimes (position (length text))
      (should (member (cl-loop for (key _) on (text-properties-at position text) by #'cddr
                               collect key)
                      '(nil (face)))))))

(provide 'hive-prompt-colour-test)
;;; hive-prompt-colour-test.el ends here
