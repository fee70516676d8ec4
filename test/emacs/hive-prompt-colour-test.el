;;; hive-prompt-colour-test.el --- Colouring hostile text  -*- lexical-binding: t; -*-

;; Copyright (C) 2026 The Hive contributors
;; SPDX-License-Identifier: MIT
;; Author: The Hive contributors
;; Assisted-by: Claude:TO-BE-FILLED-IN

;; Tags: untrusted

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'hive-prompt)
(require 'hive-shared)

(defconst hive-prompt-colour-hostile
  (let ((many (lambda (text) (apply #'concat (make-list (/ 65000 (length text)) text)))))
    (list (funcall many "[") (funcall many "`") (funcall many "*") (funcall many "_")
          (funcall many "#") (funcall many "~") (funcall many "``` x\n") (funcall many "````\n```\n")
          (funcall many "`a`") (funcall many "`a") (funcall many "# h\n") (funcall many "\n")
          (funcall many "[a](") (funcall many "> ") (funcall many "- ") (funcall many "\\")
          (funcall many "```\n~~~\n") (funcall many "<a ") (funcall many "| a ")
          (concat "`" (make-string 65000 ?a)) (concat (make-string 30000 ?`) "\n" (make-string 30000 ?`))))
  "Texts of 64 KB that make parsers of Markdown slow.")

(defun hive-prompt-colour-runs (text)
  "Return how many stretches of TEXT have a face."
  (let ((position 0) (runs 0))
    (while (< position (length text))
      (when (get-text-property position 'face text) (setq runs (1+ runs)))
      (setq position (or (next-single-property-change position 'face text) (length text))))
    runs))

(ert-deftest hive-prompt-colours-code-blocks-and-headings ()
  (let ((text (hive-prompt--coloured "# Why\nsee `x` and\n```sh\n# no\n`y`\n```\nend")))
    (cl-flet ((face (what) (get-text-property (string-search what text) 'face text)))
      (should (eq 'hive-prompt-heading (face "Why")))
      (should (eq 'hive-prompt-code (face "x")))
      (should (eq 'hive-prompt-code (face "# no")))
      (should-not (face "see"))
      (should-not (face "end")))
    (should (= 3 (hive-prompt-colour-runs text)))))

(ert-deftest hive-prompt-a-block-without-an-end-goes-to-the-end ()
  (let ((text (hive-prompt--coloured "a\n```\nb")))
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
        (setq text (hive-prompt--coloured hostile)))
      (should (equal hostile (substring-no-properties text)))
      (should (<= (hive-prompt-colour-runs text) hive-prompt--most-colours))
      (should (<= looks (+ (* 3 (cl-count ?\n hostile)) 3 hive-prompt--most-colours)))
      (should (<= passed (* 2 (length hostile)))))))

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

(ert-deftest hive-prompt-no-fence-calls-a-mode ()
  (let ((called nil))
    (cl-letf (((symbol-function 'markdown-mode) (lambda () (push 'markdown called)))
              ((symbol-function 'boom-mode) (lambda () (push 'boom called)))
              ((symbol-function 'server-mode) (lambda (&rest _) (push 'server called)))
              ((symbol-function 'run-mode-hooks) (lambda (&rest _) (push 'hooks called))))
      (dolist (fence '("```" "~~~" "````"))
        (dolist (name '("boom" "server" "{boom}" " boom" "elisp"))
          (hive-prompt--coloured (concat fence name "\n(error \"ran\")\n" fence "\n")))))
    (should-not called)))

(ert-deftest hive-prompt-coloured-text-has-faces-only ()
  (let ((text (hive-prompt--coloured
               (propertize "# a\n`b` [c](elisp:(boom))" 'display "x" 'keymap (make-sparse-keymap)
                           'invisible t))))
    (dotimes (position (length text))
      (should (member (cl-loop for (key _) on (text-properties-at position text) by #'cddr
                               collect key)
                      '(nil (face)))))))

(provide 'hive-prompt-colour-test)
;;; hive-prompt-colour-test.el ends here
