;;; hive-card-test.el --- How a card looks  -*- lexical-binding: t; -*-

;; Tags: untrusted

(require 'hive-outreach)
(require 'hive-test-help)

(ert-deftest hive-card-continued-lines-are-indented ()
  (with-temp-buffer
    (hive-card-insert '(:title "Deploy" :description "a long description"))
    (goto-char (point-min))
    (should-not (get-text-property (point) 'wrap-prefix))
    (search-forward "long")
    (should (equal "  " (get-text-property (point) 'wrap-prefix)))))

(ert-deftest hive-card-without-actions-has-nothing-like-a-button ()
  (unwind-protect
      (progn
        (hive-model-put-prompt (hive-test-prompt :ask_id "p1"))
        (pcase-dolist (`(,ask-id . ,shown) '(("p1" . "\\[Revert\\]") ("gone" . "^  Revert$") (nil . "^  Revert$")))
          (with-temp-buffer
            (hive-card-insert (list :title "Deploy" :ask_id ask-id :actions [(:label "Revert")]))
            (should (string-match-p shown (buffer-string)))
            (should (eq (and (equal ask-id "p1") t)
                        (progn (goto-char (point-min)) (and (forward-button 1 nil nil t) t)))))))
    (hive-model-forget)))
