;;; hive-list-browse-test.el --- Views, filters, marks and pages of the list  -*- lexical-binding: t; -*-

;;; Code:

(require 'hive-list)
(require 'hive-list-test-help)
(require 'hive-test-help)

(ert-deftest hive-list-has-a-key-for-each-view ()
  (hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01" :question "Done?")
                         (:ask_id "p2" :created_at "2026-01-02" :question "Late?")
                         (:ask_id "p3" :created_at "2026-01-03" :question "Open?"))
    (hive-test-call 'fake/change '(:ask_id "p1" :status "responded" :decision "yes" :by "Ada"))
    (hive-test-call 'fake/change '(:ask_id "p2" :status "expired"
                                           :late_response (:decision "too late" :by "Ada")))
    (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
    (pcase-dolist (`(,key . ,line) '(("2" . "→ yes (Ada)  Done\\?") ("3" . "→ late: too late (Ada)  Late\\?")
                                     ("4" . "→ late: too late (Ada)  Late\\?") ("1" . "Open\\?")))
      (hive-list-test-key key)
      (hive-test-wait 5 (and (= 1 (length (hive-list-test-lines)))
                             (string-match-p line (car (hive-list-test-lines))))))
    (hive-list-test-key "5")
    (hive-test-wait 5 (null (hive-list-test-lines)))
    (should (string-match-p "cancelled" mode-line-process))))

(ert-deftest hive-list-says-the-outcome-before-the-question ()
  (cl-flet ((said (&rest fields)
              (hive-list--question (apply #'hive-test-prompt :question (concat (make-string 150 ?q) "?") fields))))
    (should (string-prefix-p "→ yes (root)  qqq" (said :status "responded" :decision "yes" :by "root")))
    ;; An expired question has no decision, even if somebody answered it afterwards.
    (should (string-prefix-p "→ late: yes (root)  qqq"
                             (said :status "expired" :late_response '(:decision "yes" :by "root"))))
    (should (string-prefix-p "qqq" (said :status "expired")))
    (should (string-prefix-p "→ cancelled by root  qqq" (said :status "cancelled" :by "root" :cancel_reason "human")))
    (should (string-prefix-p "→ cancelled by Codex-1 (answered elsewhere)  qqq"
                             (said :status "cancelled" :by "Codex-1" :cancel_reason "answered_elsewhere")))
    (should (string-prefix-p "→ late: yes (root)  qqq"
                             (said :status "cancelled" :by "Ada" :late_response '(:decision "yes" :by "root"))))))

(ert-deftest hive-list-filters-by-agent-project-kind-and-text ()
  (hive-list-test-desk '((:ask_id "p1" :agent "Codex-1" :question "One?" :project "rocket")
                         (:ask_id "p2" :agent "Claude-2" :question "Two%s?" :kind "permission"))
    (pcase-dolist (`(,keys ,input ,line) '(("/ a" "Codex-1" "One") ("/ p" "rocket" "One")
                                           ("/ k" "permission" "perm .*Two") ("/ t" "WO%s" "Two")))
      (hive-list-test-key "/ /")
      (should (= 2 (length (hive-list-test-lines))))
      (hive-test-with-inputs (list input) (hive-list-test-key keys))
      (should (= 1 (length (hive-list-test-lines))))
      (should (string-match-p line (car (hive-list-test-lines)))))
    (should (string-match-p "only text \"WO%%s\"" (format "%s" header-line-format)))
    ;; It continues to follow changes.
    (hive-test-call 'fake/ask '(:question "two%S more"))
    (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))))

(ert-deftest hive-list-filters-by-the-first-letters-of-an-agent ()
  (hive-list-test-desk '((:ask_id "p1" :agent "frontend-tests") (:ask_id "p2" :agent "frontend-docs")
                         (:ask_id "p3" :agent "builder") (:ask_id "p4" :agent "builder-2"))
    (hive-list-filter-agent "Frontend-t")
    (should (= 1 (length (hive-list-test-lines))))
    (hive-list-filter-agent "@builder")
    (should (= 1 (length (hive-list-test-lines))))
    (should (string-match-p "matches several names: .*frontend-"
                            (cadr (should-error (hive-list-filter-agent "front") :type 'user-error))))
    (hive-list-filter-agent "nobody")
    (should (null (hive-list-test-lines)))
    (hive-list-filter-agent "")
    (should (= 4 (length (hive-list-test-lines))))))

;; Two agents of the same title, and one whose title is another's handle.
(defconst hive-list-browse-titles
  '((:ask_id "p1" :agent "Claude-abc12" :agent_title "fix delivery" :project "shop")
    (:ask_id "p2" :agent "Claude-def34" :agent_title "shop" :project "shop")
    (:ask_id "p3" :agent "Claude-ghi56" :agent_title "shop" :project "shop")))

(ert-deftest hive-list-offers-agents-by-title-and-filters-by-what-was-chosen ()
  (hive-list-test-desk hive-list-browse-titles
    (let (offered annotated)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt table &rest _)
                   (setq offered (all-completions "" table)
                         annotated (funcall (completion-metadata-get (completion-metadata "" table nil)
                                                                     'affixation-function)
                                            offered))
                   (should (test-completion "Claude-abc12" table))
                   "shop <2>")))
        (call-interactively #'hive-list-filter-agent))
      (should (equal '("fix delivery" "shop" "shop <2>") (sort (copy-sequence offered) #'string<)))
      (should (string-match-p "shop  Claude-abc12" (nth 2 (assoc "fix delivery" annotated)))))
    (should (= 1 (length hive-list--shown)))
    (should (equal "shop" (plist-get (car hive-list--shown) :agent_title)))
    (should (string-match-p "only agent shop" (format "%s" header-line-format)))))

(ert-deftest hive-list-filters-by-the-first-letters-of-a-title ()
  (hive-list-test-desk hive-list-browse-titles
    (hive-list-filter-agent "FIX")
    (should (equal '("p1") (mapcar (lambda (prompt) (plist-get prompt :ask_id)) hive-list--shown)))
    (hive-list-filter-agent "claude-d")
    (should (equal '("p2") (mapcar (lambda (prompt) (plist-get prompt :ask_id)) hive-list--shown)))
    (should-error (hive-list-filter-agent "shop") :type 'user-error)))

(ert-deftest hive-list-answers-what-is-marked-with-one-decision ()
  (hive-list-test-desk '((:ask_id "p1" :created_at "2026-01-01" :options [(:label "yes") (:label "no")])
                         (:ask_id "p2" :created_at "2026-01-02" :options [(:label "no") (:label "yes")])
                         (:ask_id "p3" :created_at "2026-01-03"))
    (goto-char (point-min))
    (hive-list-test-key "m")
    (hive-list-test-key "m")
    (should (equal "p3" (tabulated-list-get-id)))
    (should (string-match-p " 2 marked" mode-line-process))
    ;; A refresh keeps point and marks.
    (hive-list-test-key "g")
    (hive-list--print)
    (should (equal "p3" (tabulated-list-get-id)))
    (should (equal '(">" ">" " ") (mapcar (lambda (line) (substring line 0 1)) (hive-list-test-lines))))
    (hive-test-with-inputs (list "yes") (hive-list-test-key "a"))
    (hive-test-wait 5 (= 2 (length (hive-test-answers))))
    (should (equal '(["yes"] ["yes"]) (mapcar (lambda (answer) (plist-get answer :selected)) (hive-test-answers))))
    (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
    (should-not (string-match-p "marked" mode-line-process))))

(ert-deftest hive-list-marks-without-a-common-answer-are-refused ()
  (should-error (hive-batch-question
                 (list (hive-test-prompt :options [(:label "a")] :allow_free_text :json-false)
                       (hive-test-prompt :options [(:label "b")])))
                :type 'user-error)
  (let ((common (hive-batch-question
                 (list (hive-test-prompt :options [(:label "a") (:label "b")])
                       (hive-test-prompt :options [(:label "b")])))))
    (should (equal [(:label "b")] (plist-get common :options)))))

(ert-deftest hive-list-marks-say-how-many-and-confirm-what-permits ()
  (hive-list-test-desk '((:ask_id "p1" :question "One?" :created_at "2026-01-01" :options [(:label "Allow") (:label "Deny")])
                         (:ask_id "p2" :question "Two?" :created_at "2026-01-02" :kind "permission"
                                  :options [(:label "Allow") (:label "Deny" :refuses t)]))
    (let ((asked nil) (yes nil) lines)
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (question) (push question asked) yes)))
        (goto-char (point-min))
        (hive-list-test-key "m")
        (hive-list-test-key "m")
        ;; If one was not displayed, nothing is confirmed and none of them is answered.
        (cl-letf (((symbol-function 'hive-batch-show) #'ignore))
          (should-error (hive-test-with-inputs (list "Allow") (hive-list-test-key "a")) :type 'user-error))
        (should-not asked)
        (should-not (hive-outbox-entries 'pending))
        (hive-display-whole (hive-model-prompt "p2"))
        (should-error (setq lines (hive-test-with-inputs (list "Allow") (hive-list-test-key "a"))) :type 'user-error)
        (should (equal '("Answer 1 permission with \"Allow\"? ") asked))
        (should-not (hive-outbox-entries 'pending))
        (should (string-match-p " 2 marked" mode-line-process))
        ;; Denying needs no confirmation.
        (setq lines (hive-test-with-inputs (list "Deny") (hive-list-test-key "a")))
        (should (= 1 (length asked)))
        (should (string-prefix-p "Answer 2 questions, including 1 PERMISSION: Claude-abc12: One? · Claude-abc12: Two? (Allow"
                                 (caar lines)))
        (hive-test-wait 5 (= 2 (length (hive-test-answers))))))))

(ert-deftest hive-list-unmarks-one-and-all ()
  (hive-list-test
    (dolist (id '("a" "b" "c")) (hive-model-put-prompt (hive-test-prompt :ask_id id :created_at id)))
    (hive-list)
    (goto-char (point-min))
    (dotimes (_ 3) (hive-list-mark))
    (goto-char (point-min))
    (hive-list-undo)
    (should (equal '(" " ">" ">") (mapcar (lambda (line) (substring line 0 1)) (hive-list-test-lines))))
    (hive-list-unmark-all)
    (should-not (cl-find ?> (buffer-string)))))

(ert-deftest hive-list-turns-pages ()
  (hive-list-test
    (hive-model-replace (cl-loop for i below 1200 collect
                                 (hive-test-prompt :ask_id (format "%04d" i) :created_at (format "%04d" i))))
    (hive-list)
    (hive-list-next-page)
    (should (equal "0500" (tabulated-list-get-id)))
    (should (equal " 501-1000 of 1200" mode-line-process))
    (hive-list-next-page)
    (should (= 200 (length (hive-list-test-lines))))
    (should-error (hive-list-next-page) :type 'user-error)
    (hive-list-previous-page)
    (hive-list-previous-page)
    (should (equal "0000" (tabulated-list-get-id)))
    (should-error (hive-list-previous-page) :type 'user-error)))

(ert-deftest hive-list-turns-pages-of-what-is-settled-by-cursor ()
  (hive-list-test-desk nil
    (let ((hive-list-rows 2))
      (dotimes (i 5) (hive-test-call 'fake/ask (list :ask_id (format "p%d" i) :status "responded" :decision "ok")))
      (hive-list-test-key "2")
      (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))
      (hive-list-test-key ">")
      (hive-test-wait 5 (equal "p2" (tabulated-list-get-id)))
      (should (equal " answered 3-4 of 5" mode-line-process))
      (hive-list-test-key ">")
      (hive-test-wait 5 (= 1 (length (hive-list-test-lines))))
      (should-error (hive-list-test-key ">") :type 'user-error)
      (hive-list-test-key "<")
      (hive-test-wait 5 (= 2 (length (hive-list-test-lines))))
      (should (equal "p2" (tabulated-list-get-id))))))

(ert-deftest hive-list-ret-shows-all-of-it ()
  (hive-list-test-desk '((:ask_id "p1" :question "Which way?"))
    (hive-list-test-key "RET")
    (should (derived-mode-p 'hive-prompt-mode))
    (kill-buffer)))

;;; hive-list-browse-test.el ends here
